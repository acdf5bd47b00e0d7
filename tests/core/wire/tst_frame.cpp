// Both ends of the stream in one process, through a buffer.
#include "core/wire/frame.h"

#include <QtTest>

#include <cstring>

using namespace lockstep;
using namespace lockstep::wire;

namespace {

struct Read {
    std::vector<std::pair<FrameKind, std::string>> frames;
    std::optional<Error> error;
};

void drain(FrameReader& reader, Read& read)
{
    Frame frame;
    for (;;) {
        const Result<bool> got = reader.next(frame);
        if (!got.ok()) {
            read.error = got.error();
            return;
        }
        if (!*got)
            return;
        read.frames.emplace_back(frame.kind, std::string(frame.payload));
    }
}

// Feeds pieces of `size` bytes.
Read readInPieces(const std::string& stream, std::size_t size)
{
    FrameReader reader;
    Read read;
    for (std::size_t at = 0; at < stream.size() && !read.error; at += size) {
        reader.feed(stream.data() + at, std::min(size, stream.size() - at));
        drain(reader, read);
    }
    return read;
}

std::string rawFrame(std::uint32_t length, std::uint16_t kind, std::uint16_t flags,
                     const std::string& payload)
{
    std::string out(8, '\0');
    std::memcpy(out.data(), &length, 4);
    std::memcpy(out.data() + 4, &kind, 2);
    std::memcpy(out.data() + 6, &flags, 2);
    return out + payload;
}

std::string sampleStream()
{
    std::string stream = streamHeader();
    appendFrame(stream, FrameKind::Hello, "who");
    appendFrame(stream, FrameKind::Step, "");
    appendFrame(stream, FrameKind::Tensor, std::string(300, 'x'));
    appendFrame(stream, FrameKind::Goodbye, std::string("\0\1", 2));
    return stream;
}

} // namespace

class TestFrame : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    void layoutIsTheDocumentedOne()
    {
        std::string stream = streamHeader();
        appendFrame(stream, FrameKind::Samples, "ab");
        QCOMPARE(QByteArray::fromStdString(stream).toHex(), QByteArray("4c4f434b5354500a"
                                                                       "01000000"
                                                                       "02000000"
                                                                       "0300"
                                                                       "0000"
                                                                       "6162"));
    }

    void framesSurviveAnySplit()
    {
        const std::string stream = sampleStream();
        const Read whole = readInPieces(stream, stream.size());
        QVERIFY(!whole.error);
        QCOMPARE(whole.frames.size(), std::size_t(4));
        QCOMPARE(whole.frames[2].second, std::string(300, 'x'));
        for (std::size_t size = 1; size < stream.size(); ++size)
            QCOMPARE(readInPieces(stream, size).frames, whole.frames);
        for (std::size_t cut = 0; cut <= stream.size(); ++cut) {
            FrameReader reader;
            Read read;
            reader.feed(stream.data(), cut);
            drain(reader, read);
            reader.feed(stream.data() + cut, stream.size() - cut);
            drain(reader, read);
            QVERIFY(!read.error);
            QCOMPARE(read.frames, whole.frames);
            QCOMPARE(reader.pending(), std::size_t(0));
        }
    }

    void aCutStreamLeavesBytesPending()
    {
        const std::string stream = sampleStream();
        FrameReader reader;
        reader.feed(stream.data(), stream.size() - 1);
        Read read;
        drain(reader, read);
        QVERIFY(!read.error);
        QCOMPARE(read.frames.size(), std::size_t(3));
        QCOMPARE(reader.pending(), std::size_t(9));
    }

    void wrongMagicIsRefusedAtTheFirstDifferentByte()
    {
        for (const std::string& stranger :
             {std::string("G"), std::string("GET / HTTP/1.1\r\n"), std::string("LOCKSTP\r....")}) {
            const Read read = readInPieces(stranger, stranger.size());
            QVERIFY(read.error);
            QCOMPARE(read.error->kind, ErrorKind::Corrupt);
            QVERIFY(read.error->sentence().find("byte 0") != std::string::npos);
        }
        QVERIFY(!readInPieces("LOCK", 4).error);
    }

    void otherVersionsAreRefused()
    {
        std::string stream = sampleStream();
        stream[8] = 2;
        QCOMPARE(readInPieces(stream, 5).error->kind, ErrorKind::NewerSchema);
        QVERIFY(readInPieces(stream, 5).error->sentence().find("version 2") != std::string::npos);
        stream[8] = 0;
        QCOMPARE(readInPieces(stream, 5).error->kind, ErrorKind::Input);
    }

    void aLengthAboveTheCapIsRefusedBeforeItsBytesArrive()
    {
        std::string stream = streamHeader();
        appendFrame(stream, FrameKind::Hello, "who");
        stream += rawFrame(kMaxPayload + 1, 2, 0, "");
        const Read read = readInPieces(stream, stream.size());
        QCOMPARE(read.frames.size(), std::size_t(1));
        QVERIFY(read.error);
        QCOMPARE(read.error->kind, ErrorKind::Corrupt);
        QVERIFY(read.error->sentence().find("byte 23 ") != std::string::npos);
        QVERIFY(!readInPieces(streamHeader() + rawFrame(kMaxPayload, 2, 0, ""), 64).error);
    }

    void errorsAreFinal()
    {
        FrameReader reader;
        const std::string bad = streamHeader() + rawFrame(0xffffffff, 2, 0, "");
        reader.feed(bad.data(), bad.size());
        Frame frame;
        QVERIFY(!reader.next(frame).ok());
        const std::string good = sampleStream();
        reader.feed(good.data(), good.size());
        QVERIFY(!reader.next(frame).ok());
    }

    void unknownKindsAndFlagsAreSkipped()
    {
        std::string stream = streamHeader();
        stream += rawFrame(3, 0, 0, "abc");
        stream += rawFrame(5, 8, 0, "later");
        stream += rawFrame(0, 0xffff, 0, "");
        stream += rawFrame(2, 2, 1, "zz"); // a known kind, packed in a way of the future
        appendFrame(stream, FrameKind::Event, "seen");
        for (std::size_t size : {std::size_t(1), stream.size()}) {
            const Read read = readInPieces(stream, size);
            QVERIFY(!read.error);
            QCOMPARE(read.frames.size(), std::size_t(1));
            QCOMPARE(read.frames[0].second, std::string("seen"));
        }
    }
};

QTEST_GUILESS_MAIN(TestFrame)
#include "tst_frame.moc"
