#include "core/align/student.h"

#include <cmath>

namespace lockstep::align {

double studentCdf(double t, int degrees)
{
    const double theta = std::atan(t / std::sqrt(double(degrees)));
    const double sine = std::sin(theta);
    const double cosine = std::cos(theta);
    // The series 1 + 1/2 c^2 + 3/8 c^4 + ... for even, c + 2/3 c^3 + ... for odd degrees.
    double sum = 0;
    double term = degrees % 2 == 0 ? 1 : cosine;
    for (int k = degrees % 2 == 0 ? 2 : 3; k <= degrees; k += 2) {
        sum += term;
        term *= cosine * cosine * double(k - 1) / double(k);
    }
    const double twoSided = degrees % 2 == 0 ? sine * sum : 2 / M_PI * (theta + sine * sum);
    return (1 + twoSided) / 2;
}

double studentQuantile(double p, int degrees)
{
    double low = 0;
    double high = 1;
    while (studentCdf(high, degrees) < p && high < 1e12)
        high *= 2;
    for (int i = 0; i < 200 && high - low > 1e-12 * high; ++i) {
        const double middle = (low + high) / 2;
        (studentCdf(middle, degrees) < p ? low : high) = middle;
    }
    return high;
}

} // namespace lockstep::align
