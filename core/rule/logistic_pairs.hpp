// Gradients and Hessians of the logistic loss, several at once.
#pragma once

namespace tacit {

// g = p − y and h = p (1 − p) with p = 1 / (1 + e^−f), for n scores and targets of 0 or 1.
void logistic_pairs(const double* f, const double* y, int n, double* g, double* h);

}  // namespace tacit
