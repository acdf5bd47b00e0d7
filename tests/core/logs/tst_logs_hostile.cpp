// No bytes make a reader of logs crash, invent values or take memory out of proportion.
#include "core/logs/read_logs.h"
#include "tests/core/logs/log_bytes.h"
#include "tests/core/logs/log_samples.h"

#include <QDir>
#include <QFile>
#include <QtTest>

#include <algorithm>
#include <cmath>
#include <random>

using namespace lockstep;
using namespace lockstep::test;

class TestHostileLogs : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init() { folder_ = std::make_unique<LogFolder>(); }

    void everyCutGivesAPrefix_data();
    void everyCutGivesAPrefix();
    void flippedBytesNeverCrash_data();
    void flippedBytesNeverCrash();
    void aGigabyteOfZerosTakesNoMemory_data();
    void aGigabyteOfZerosTakesNoMemory();

private:
    std::unique_ptr<LogFolder> folder_;
};

void TestHostileLogs::everyCutGivesAPrefix_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("bytes");
    const auto row = [](const char* name, const std::string& bytes) {
        QTest::newRow(name) << QByteArray(name) << QByteArray::fromStdString(bytes);
    };
    row("events.out.tfevents.1", tbFile());
    row("run-abc.wandb", wandbSmall());
    row("trainer_state.json", kHf);
    row("metrics.csv", kCsv);
    row("megatron.log", kMegatron);
    row("torchtitan.log", kTorchtitan);
    const std::string path = folder_ ? folder_->filePath("t.db").toStdString()
                                     : QDir::temp().filePath("lockstep-t.db").toStdString();
    QFile::remove(QString::fromStdString(path));
    makeTrackio(path, true);
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::ReadOnly));
    row("trackio.db", file.readAll().toStdString());
    file.remove();
}

void TestHostileLogs::everyCutGivesAPrefix()
{
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, bytes);
    const LogData whole = readLog(folder_->write(QString::fromUtf8(name), bytes.toStdString()));
    QVERIFY(!whole.series.empty());
    const qsizetype stride = bytes.size() > 4096  ? 127
                             : bytes.size() > 600 ? 3
                                                  : 1; // prime: no period of the format
    for (qsizetype cut = 0; cut < bytes.size(); cut += stride) {
        const Result<LogData> part =
            readLogs(folder_->write(QString::fromUtf8(name), bytes.left(cut).toStdString()));
        if (!part)
            continue; // nothing in it yet
        for (const LogSeries& series : part->series) {
            const auto same = std::find_if(whole.series.begin(), whole.series.end(), [&](const LogSeries& s) {
                return s.tag == series.tag && s.run == series.run &&
                       (s.rank == series.rank || !series.rank); // a configuration may be cut off
            });
            QVERIFY2(same != whole.series.end(),
                     qPrintable(QString("cut %1: %2").arg(cut).arg(QString::fromStdString(series.tag))));
            QVERIFY(series.steps.size() <= same->steps.size());
            QVERIFY(std::equal(series.steps.begin(), series.steps.end(), same->steps.begin()));
            for (std::size_t i = 0; i < series.values.size(); ++i)
                QVERIFY(std::isnan(series.values[i]) ? std::isnan(same->values[i])
                                                     : series.values[i] == same->values[i]);
        }
    }
}

void TestHostileLogs::flippedBytesNeverCrash_data()
{
    everyCutGivesAPrefix_data();
}

void TestHostileLogs::flippedBytesNeverCrash()
{
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, bytes);
    std::mt19937 random(7);
    for (int round = 0; round < 100; ++round) {
        QByteArray changed = bytes;
        for (int i = 0; i < 1 + round % 4; ++i)
            changed[qsizetype(random() % std::size_t(changed.size()))] = char(random());
        const Result<LogData> data = readLogs(folder_->write(QString::fromUtf8(name), changed.toStdString()));
        if (data)
            for (const LogSeries& series : data->series)
                QCOMPARE(series.steps.size(), series.values.size());
        else
            QVERIFY(!data.error().what.empty() && !data.error().fix.empty());
    }
}

namespace {

// The most memory this process has had, in bytes; setting the counter back needs Linux.
qint64 peakMemory(bool reset)
{
    if (reset) {
        QFile clear("/proc/self/clear_refs");
        if (clear.open(QIODevice::WriteOnly))
            clear.write("5");
    }
    QFile status("/proc/self/status");
    if (!status.open(QIODevice::ReadOnly))
        return -1;
    for (const QByteArray& line : status.readAll().split('\n'))
        if (line.startsWith("VmHWM:"))
            return line.mid(6).trimmed().split(' ').front().toLongLong() * 1024;
    return -1;
}

} // namespace

void TestHostileLogs::aGigabyteOfZerosTakesNoMemory_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("head");
    const auto row = [](const char* name, const std::string& head) {
        QTest::newRow(name) << QByteArray(name) << QByteArray::fromStdString(head);
    };
    row("events.out.tfevents.1", tbFile());
    row("events.out.tfevents.2", tbFile() + tfHead(900 << 20)); // one record of nearly all of it
    row("run-abc.wandb", wandbSmall());
    row("trainer_state.json", std::string(kHf).substr(0, 200));
    row("metrics.csv", kCsv);
    row("megatron.log", kMegatron);
    row("zeros.log", "");
    row("zeros.tfevents.1", "");
    row("zeros.wandb", "");
    row("zeros.db", "SQLite format 3" + std::string(1, '\0'));
}

void TestHostileLogs::aGigabyteOfZerosTakesNoMemory()
{
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, head);
    const std::string path = folder_->write(QString::fromUtf8(name), head.toStdString());
    QVERIFY(QFile(QString::fromStdString(path)).resize(qint64(1) << 30)); // a hole: takes no disk
    const qint64 before = peakMemory(true);
    if (before < 0)
        QSKIP("the system does not tell the memory of a process (/proc/self/status); run it on Linux");
    const Result<LogData> data = readLogs(path);
    const qint64 used = peakMemory(false) - before;
    QVERIFY2(used < (64 << 20), qPrintable(QString("%1 MB more").arg(used >> 20)));
    QVERIFY(!data || !data->problems.empty());
}

QTEST_APPLESS_MAIN(TestHostileLogs)

#include "tst_logs_hostile.moc"
