// Quantiles of Student's t distribution, for prediction bounds from few observations.
#pragma once

namespace lockstep::align {

// P(T <= t) with `degrees` >= 1 degrees of freedom. Abramowitz and Stegun, Handbook of Mathematical
// Functions, 26.7.3-4.
double studentCdf(double t, int degrees);
// The t with P(T <= t) = p, 0.5 <= p < 1.
double studentQuantile(double p, int degrees);

} // namespace lockstep::align
