"""Raw frames of partitions: the passes that find labels and defaults, and coding by them."""
