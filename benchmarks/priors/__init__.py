"""What priors of trees, graphs, networks and mixtures do on records that they have not seen."""
