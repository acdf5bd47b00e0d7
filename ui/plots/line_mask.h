// Antialiased line segments, for curves with few samples. QPainter's stroker takes about 16 us per segment of a noisy
// curve; this takes less than one, and a pixel depends only on the segments, not on what part of the image is drawn.
#pragma once

#include <QImage>
#include <QLineF>

#include <cstdint>
#include <vector>

namespace lockstep {

// Coverage of the pixels of one curve in the columns [from, to), collected first and blended once, so that a curve with
// alpha shows no dots where its segments meet.
class LineMask
{
public:
    LineMask(long from, long to, long height);

    // A segment of the given width with flat ends. Steep ones are filled row by row, the others column by column, each
    // with the exact share of the first and last pixel of the run.
    void addSegment(const QLineF& line, double width);
    // A disc that closes the notch between two wide segments.
    void addDisc(const QPointF& middle, double diameter);
    // Blends `premultiplied` by the coverage and forgets it.
    void paint(QImage& image, QRgb premultiplied);

private:
    struct Dirty {
        long first = 0, last = -1; // rows
    };
    void add(long column, long row, double share);
    void addRun(long column, double top, double bottom, double share);

    long from_, to_, height_;
    std::vector<std::uint8_t> coverage_; // by column
    std::vector<Dirty> dirty_;
};

} // namespace lockstep
