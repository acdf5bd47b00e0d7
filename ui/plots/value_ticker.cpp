#include "ui/plots/value_ticker.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace lockstep {

namespace {

// 1, 2 or 5 times a power of ten, at least `rough`.
double niceDistance(double rough)
{
    const double power = std::pow(10, std::floor(std::log10(rough)));
    for (const double factor : {1.0, 2.0, 5.0})
        if (factor * power >= rough * (1 - 1e-9))
            return factor * power;
    return 10 * power;
}

QString decimalLabel(double value, double distance)
{
    if (value == 0)
        return QStringLiteral("0");
    const double size = std::max(std::fabs(value), distance);
    if (size >= 1e6 || distance < 1e-5) {
        const int digits = std::clamp(
            int(std::floor(std::log10(std::fabs(value))) - std::floor(std::log10(distance) + 1e-9)), 0, 15);
        QString text = QString::number(value, 'e', digits);
        const qsizetype e = text.indexOf(QLatin1Char('e'));
        qsizetype end = e;
        if (text.left(e).contains(QLatin1Char('.')))
            while (text[end - 1] == QLatin1Char('0') || text[end - 1] == QLatin1Char('.'))
                if (text[--end] == QLatin1Char('.'))
                    break;
        return text.remove(end, e - end);
    }
    const int decimals = std::clamp(int(-std::floor(std::log10(distance) + 1e-9)), 0, 8);
    return QString::number(value, 'f', decimals);
}

ValueTicks linearTicks(double low, double high, int target, double smallest, bool coordinatesAreValues)
{
    ValueTicks out;
    const double distance = std::max(niceDistance((high - low) / std::max(1, target)), smallest);
    if (!(distance > 0) || !std::isfinite(distance))
        return out;
    const double first = std::ceil(low / distance - 1e-9);
    for (double k = first; k * distance <= high + distance * 1e-9 && k < first + 100; ++k) {
        const double value = k == 0 ? 0 : k * distance;
        out.major.append(value);
        out.labels.append(coordinatesAreValues ? decimalLabel(value, distance) : QString());
    }
    return out;
}

ValueTicks logTicks(double low, double high, int target)
{
    ValueTicks out;
    if (high - low < 1.2) { // within about a decade, powers of ten alone would leave the axis bare
        const double lowValue = std::pow(10, low), highValue = std::pow(10, high);
        if (high - low < 0.5) {
            ValueTicks linear = linearTicks(lowValue, highValue, target, 0, true);
            for (double& tick : linear.major)
                tick = std::log10(tick);
            return linear;
        }
    }
    const int from = int(std::floor(low)), to = int(std::ceil(high));
    const bool inBetween = high - low <= target * 0.45;
    const int every = std::max(1, int(std::ceil((high - low) / std::max(1, target))));
    for (int k = from; k <= to; ++k) {
        for (const int factor : {1, 2, 5}) {
            const double at = k + std::log10(factor);
            if (at < low - 1e-9 || at > high + 1e-9)
                continue;
            if (factor == 1 ? (k % every + every) % every == 0 : inBetween) {
                out.major.append(at);
                const double value = factor * std::pow(10, k);
                out.labels.append(inBetween && k >= -3 && k <= 4
                                      ? decimalLabel(value, std::pow(10, std::min(k, 0)))
                                  : factor == 1 ? powerOfTenLabel(k, false)
                                                : QString::number(value, 'g', 1));
            } else if (every == 1) {
                out.minor.append(at);
            }
        }
    }
    return out;
}

ValueTicks symlogTicks(double low, double high, int target, double threshold)
{
    ValueTicks out;
    if (high <= 1 && low >= -1) { // inside the linear part
        out = linearTicks(low * threshold, high * threshold, target, 0, true);
        for (double& tick : out.major)
            tick /= threshold;
        return out;
    }
    const int base = int(std::lround(std::log10(threshold)));
    const int decades = int(std::ceil(std::max(std::fabs(low), std::fabs(high))));
    const int shown = int(std::ceil(high - low));
    const int every = std::max(1, int(std::ceil(double(shown) / std::max(2, target))));
    out.major.append(0);
    out.labels.append(QStringLiteral("0"));
    for (int k = 1; k <= decades; ++k) { // coordinate k is threshold * 10^(k - 1)
        for (const int sign : {1, -1}) {
            const double at = sign * k;
            if (at < low - 1e-9 || at > high + 1e-9)
                continue;
            if ((k - 1) % every == 0) {
                out.major.append(at);
                out.labels.append(powerOfTenLabel(base + k - 1, sign < 0));
            } else {
                out.minor.append(at);
            }
        }
    }
    return out;
}

} // namespace

QString powerOfTenLabel(int exponent, bool negative)
{
    static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
    QString text = negative ? QStringLiteral("-10") : QStringLiteral("10");
    if (exponent < 0)
        text += QChar(0x207B);
    for (const QChar c : QString::number(std::abs(exponent)))
        text += digits[c.digitValue()];
    return text;
}

ValueTicks valueTicks(double low, double high, int target, const YTransform& transform)
{
    if (!(low < high) || !std::isfinite(high - low))
        return {};
    switch (transform.scale) {
    case YScale::Linear:
        return linearTicks(low, high, target, 0, true);
    case YScale::Log:
        return logTicks(low, high, target);
    case YScale::Symlog:
        return symlogTicks(low, high, target, transform.threshold);
    }
    return {};
}

ValueTicks stepTicks(double low, double high, int target)
{
    if (!(low < high) || !std::isfinite(high - low))
        return {};
    ValueTicks ticks = linearTicks(low, high, target, 1, false);
    for (int i = 0; i < ticks.major.size(); ++i) {
        const double step = ticks.major[i];
        ticks.labels[i] =
            std::fabs(step) < 1e15 ? QString::number(qint64(step)) : QString::number(step, 'g', 6);
    }
    // Long numbers are shortened together, so that one axis does not mix forms.
    if (!ticks.major.isEmpty()) {
        const auto all = [&](double unit) {
            return std::all_of(ticks.major.begin(), ticks.major.end(), [unit](double s) {
                return std::fabs(std::remainder(s, unit / 10)) < 0.5 || s == 0;
            });
        };
        const double largest = std::max(std::fabs(ticks.major.front()), std::fabs(ticks.major.back()));
        for (const auto& [unit, suffix] : {std::pair{1e6, "M"}, std::pair{1e3, "k"}}) {
            if (largest >= unit * (unit < 1e6 ? 10 : 1) && all(unit)) {
                for (int i = 0; i < ticks.major.size(); ++i)
                    if (ticks.major[i] != 0)
                        ticks.labels[i] =
                            QString::number(ticks.major[i] / unit, 'g', 8) + QLatin1String(suffix);
                break;
            }
        }
    }
    return ticks;
}

ValueTicks logStepTicks(double low, double high, int target)
{
    const XTransform log{XScale::Log};
    ValueTicks out;
    if (!(low < high) || !std::isfinite(high - low))
        return out;
    if (high - low < 0.7) { // less than a decade: even steps read better
        ValueTicks even = stepTicks(log.backward(low), log.backward(high), target);
        for (double& tick : even.major)
            tick = log.forward(tick);
        return even;
    }
    std::vector<double> candidates{0};
    const bool dense = (high - low) * 3 <= target;
    for (double power = 1; power <= log.backward(high) && power < 1e18; power *= 10)
        for (const double factor : dense ? std::vector<double>{1, 2, 5} : std::vector<double>{1})
            candidates.push_back(power * factor);
    for (const double step : candidates) {
        const double at = log.forward(step);
        if (at < low - 1e-9 || at > high + 1e-9)
            continue;
        out.major.append(at);
        out.labels.append(step >= 1e6   ? QString::number(step / 1e6, 'g', 8) + QLatin1Char('M')
                          : step >= 1e4 ? QString::number(step / 1e3, 'g', 8) + QLatin1Char('k')
                                        : QString::number(qint64(step)));
    }
    return out;
}

void ValueTicker::generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks,
                           QVector<double>* subTicks, QVector<QString>* tickLabels)
{
    const ValueTicks made = kind_ == Kind::Value ? valueTicks(range.lower, range.upper, target, transform)
                            : xTransform.scale == XScale::Log ? logStepTicks(range.lower, range.upper, target)
                                                              : stepTicks(range.lower, range.upper, target);
    ticks = made.major;
    if (subTicks != nullptr)
        *subTicks = made.minor;
    if (tickLabels != nullptr)
        *tickLabels = made.labels;
}

} // namespace lockstep
