"""From records to numbers, and from many columns to the few dimensions of the grid."""
