"""What priors of trees, graphs and networks do on records that they have not seen."""
