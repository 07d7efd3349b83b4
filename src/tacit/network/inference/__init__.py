"""What a Bayes net answers: marginals, most probable values, samples, likelihoods."""
