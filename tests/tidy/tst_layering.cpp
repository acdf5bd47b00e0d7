// The include table of ARCHITECTURE.md, checked against every source file: data flows one way, torch stays in
// the engine, SQL in the store, QCustomPlot in the plots, and the window reaches none of them.
#include <QtTest>

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>

namespace {

struct Rule {
    QString folder;                // of the including file
    QStringList mayInclude;        // folders of ours, besides the own one
    QStringList mayIncludeOutside; // "Qt", "torch", "sqlite3", "qcustomplot", "rapidjson", "cuda"
};

const QList<Rule> kRules = {
    {"core/base", {}, {}},
    {"core/config", {"core/base"}, {"rapidjson", "fmt"}},
    {"core/sampling", {"core/base"}, {}},
    {"core/wire", {"core/base"}, {"fmt"}},
    {"core/store", {"core/base", "core/config"}, {"sqlite3", "xxhash", "fmt", "rapidjson"}},
    {"core/align", {"core/base", "core/config", "core/store"}, {"fmt", "rapidjson"}},
    {"core/gates",
     {"core/base", "core/config", "core/sampling", "core/store", "core/align"},
     {"fmt", "rapidjson"}},
    {"core/report",
     {"core/base", "core/config", "core/store", "core/align", "core/gates"},
     {"fmt", "rapidjson"}},
    {"core/host", {"core/base", "core/config", "core/wire", "core/store"}, {"Qt", "fmt", "rapidjson"}},
    {"core/ckpt", {"core/base", "core/config"}, {"libdeflate", "fmt", "rapidjson"}},
    // The store for the rows of Trackio databases: nobody else speaks SQL.
    {"core/logs",
     {"core/base", "core/config", "core/store"},
     {"protozero", "libdeflate", "fmt", "rapidjson"}},
    {"core/engine",
     {"core/base", "core/config", "core/sampling", "core/wire", "core/ckpt"},
     {"torch", "fmt", "rapidjson", "cuda"}},
    {"ui/models",
     {"core/base", "core/config", "core/sampling", "core/store", "core/align", "core/gates", "core/ckpt",
      "core/logs"},
     {"Qt", "fmt", "rapidjson"}},
    {"ui/plots", {"core/base", "ui/models"}, {"Qt", "qcustomplot"}},
    {"ui/widgets", {"core/base", "ui/models"}, {"Qt"}},
    {"ui/pages", {"core/base", "core/config", "ui/models", "ui/plots", "ui/widgets"}, {"Qt"}},
    {"ui/window", {"core/base", "core/config", "ui/models", "ui/plots", "ui/widgets", "ui/pages"}, {"Qt"}},
    {"app/worker",
     {"core/base", "core/config", "core/sampling", "core/wire", "core/ckpt", "core/engine"},
     {"CLI", "fmt", "rapidjson"}},
};

// What an outside header belongs to; empty for the standard library and the operating system.
QString outsideFamily(const QString& header)
{
    static const QList<QPair<QString, QString>> prefixes = {
        {"torch/", "torch"},
        {"ATen/", "torch"},
        {"c10/", "torch"},
        {"caffe2/", "torch"},
        {"gloo/", "torch"},
        {"sqlite3", "sqlite3"},
        {"xxhash", "xxhash"},
        {"qcustomplot", "qcustomplot"},
        {"rapidjson/", "rapidjson"},
        {"fmt/", "fmt"},
        {"CLI/", "CLI"},
        {"libdeflate", "libdeflate"},
        {"protozero/", "protozero"},
        {"cuda", "cuda"},
        {"nccl", "cuda"},
    };
    for (const auto& [prefix, family] : prefixes)
        if (header.startsWith(prefix, Qt::CaseInsensitive))
            return family;
    static const QRegularExpression qt("^(Qt[A-Z][A-Za-z0-9]*/|Q[A-Z][A-Za-z0-9]*$|q[a-z]+\\.h$)");
    return qt.match(header).hasMatch() ? "Qt" : "";
}

QString sourceDir()
{
    return QStringLiteral(LOCKSTEP_SOURCE_DIR);
}

QStringList sourcesBelow(const QString& folder)
{
    QStringList files;
    QDirIterator it(sourceDir() + "/" + folder, {"*.h", "*.cpp", "*.cu", "*.cuh"}, QDir::Files,
                    QDirIterator::Subdirectories);
    while (it.hasNext())
        files << it.next();
    return files;
}

// "file:line: what" for each include of `file` that the rule does not allow.
QStringList violations(const Rule& rule, const QString& name, const QString& text)
{
    static const QRegularExpression include("^\\s*#\\s*include\\s*[<\"]([^>\"]+)[>\"]");
    static const QRegularExpression ours("^(core|ui|app|tests)/");
    QStringList found;
    int line = 0;
    for (const QString& row : text.split('\n')) {
        ++line;
        const QRegularExpressionMatch match = include.match(row);
        if (!match.hasMatch())
            continue;
        const QString header = match.captured(1);
        bool allowed = true;
        if (ours.match(header).hasMatch()) {
            const QString target = header.section('/', 0, 1);
            allowed = target == rule.folder || rule.mayInclude.contains(target);
        } else if (const QString family = outsideFamily(header); !family.isEmpty()) {
            allowed = rule.mayIncludeOutside.contains(family);
        }
        if (!allowed)
            found << QString("%1:%2: %3 may not include %4").arg(name).arg(line).arg(rule.folder, header);
    }
    return found;
}

} // namespace

class TestLayering : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyFolderHasARule();
    void includesFollowTheTable_data();
    void includesFollowTheTable();
    void aForbiddenIncludeIsFound_data();
    void aForbiddenIncludeIsFound();
    void sourceFilesEndWithANewline();
};

void TestLayering::everyFolderHasARule()
{
    QStringList known;
    for (const Rule& rule : kRules)
        known << rule.folder;
    for (const QString top : {"core", "ui"})
        for (const QString& folder :
             QDir(sourceDir() + "/" + top).entryList(QDir::Dirs | QDir::NoDotAndDotDot))
            if (!sourcesBelow(top + "/" + folder).isEmpty())
                QVERIFY2(known.contains(top + "/" + folder),
                         qPrintable("no include rule for " + top + "/" + folder));
}

void TestLayering::includesFollowTheTable_data()
{
    QTest::addColumn<int>("rule");
    for (int i = 0; i < kRules.size(); ++i)
        if (!sourcesBelow(kRules[i].folder).isEmpty())
            QTest::newRow(qPrintable(kRules[i].folder)) << i;
}

void TestLayering::includesFollowTheTable()
{
    QFETCH(int, rule);
    QStringList found;
    for (const QString& path : sourcesBelow(kRules[rule].folder)) {
        QFile file(path);
        QVERIFY2(file.open(QIODevice::ReadOnly), qPrintable(path));
        found << violations(kRules[rule], QDir(sourceDir()).relativeFilePath(path),
                            QString::fromUtf8(file.readAll()));
    }
    QVERIFY2(found.isEmpty(), qPrintable(found.join('\n')));
}

void TestLayering::aForbiddenIncludeIsFound_data()
{
    QTest::addColumn<QString>("folder");
    QTest::addColumn<QString>("line");
    QTest::addColumn<bool>("allowed");
    QTest::newRow("torch-in-the-window") << "ui/window"
                                         << "#include <torch/torch.h>" << false;
    QTest::newRow("torch-in-the-engine") << "core/engine"
                                         << "#include <torch/torch.h>" << true;
    QTest::newRow("sql-in-a-page") << "ui/pages"
                                   << "#include <sqlite3.h>" << false;
    QTest::newRow("sql-in-the-store") << "core/store"
                                      << "#include <sqlite3.h>" << true;
    QTest::newRow("store-in-a-page") << "ui/pages"
                                     << "#include \"core/store/run_reader.h\"" << false;
    QTest::newRow("qt-in-the-checkpoint-reader") << "core/ckpt"
                                                 << "#include <QString>" << false;
    QTest::newRow("qcustomplot-in-a-page") << "ui/pages"
                                           << "#include <qcustomplot.h>" << false;
    QTest::newRow("widgets-in-a-model") << "ui/models"
                                        << "#include \"ui/widgets/chip.h\"" << false;
    QTest::newRow("protobuf-in-the-logs") << "core/logs"
                                          << "#include <protozero/pbf_reader.hpp>" << true;
    QTest::newRow("protobuf-in-the-store") << "core/store"
                                           << "#include <protozero/pbf_reader.hpp>" << false;
    QTest::newRow("sql-in-the-logs") << "core/logs"
                                     << "#include <sqlite3.h>" << false;
    QTest::newRow("standard-library") << "core/base"
                                      << "#include <vector>" << true;
}

void TestLayering::aForbiddenIncludeIsFound()
{
    QFETCH(QString, folder);
    QFETCH(QString, line);
    QFETCH(bool, allowed);
    for (const Rule& rule : kRules)
        if (rule.folder == folder)
            QCOMPARE(violations(rule, "x.cpp", line).isEmpty(), allowed);
}

void TestLayering::sourceFilesEndWithANewline()
{
    for (const QString top : {"core", "ui", "app", "tests"})
        for (const QString& path : sourcesBelow(top)) {
            QFile file(path);
            QVERIFY(file.open(QIODevice::ReadOnly));
            const QByteArray text = file.readAll();
            QVERIFY2(text.isEmpty() || text.endsWith('\n'), qPrintable(path));
        }
}

QTEST_APPLESS_MAIN(TestLayering)
#include "tst_layering.moc"
