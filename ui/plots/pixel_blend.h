// One pixel over another, premultiplied.
#pragma once

#include <QRgb>

namespace lockstep {

// `color` over `pixel` with `coverage` in [0, 256].
inline void blend(QRgb& pixel, QRgb color, unsigned coverage)
{
    if (coverage == 256 && qAlpha(color) == 255) {
        pixel = color;
        return;
    }
    const unsigned inverse = 256 * 255 - coverage * unsigned(qAlpha(color)); // in 1 / (256 * 255)
    const auto mix = [&](unsigned source, unsigned under) {
        return (source * coverage * 255 + under * inverse + 128 * 255) / (256 * 255);
    };
    pixel = qRgba(int(mix(unsigned(qRed(color)), unsigned(qRed(pixel)))),
                  int(mix(unsigned(qGreen(color)), unsigned(qGreen(pixel)))),
                  int(mix(unsigned(qBlue(color)), unsigned(qBlue(pixel)))),
                  int(mix(unsigned(qAlpha(color)), unsigned(qAlpha(pixel)))));
}

} // namespace lockstep
