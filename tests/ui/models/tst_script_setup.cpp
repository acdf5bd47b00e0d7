// "Use my script": from what is typed to the command that runs, and what is wrong with it before it does.
#include "ui/models/script_setup.h"
#include "ui/models/shell_words.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace lockstep;

namespace {

// A folder with scripts and an environment whose programs are real files.
class Workplace
{
public:
    Workplace()
    {
        QDir(path()).mkpath(QStringLiteral(".venv/bin"));
        for (const char* name : {".venv/bin/python", ".venv/bin/accelerate"})
            touch(name, true);
        for (const char* name : {"train.py", "train me.py"})
            touch(name, false);
    }
    QString path() const { return dir_.path(); }
    QString file(const char* name) const { return dir_.filePath(QLatin1String(name)); }
    ScriptSetup setup(const char* single, const char* ddp = "") const
    {
        return {path(), QStringLiteral(".venv/bin/python"), QLatin1String(single), QLatin1String(ddp), {}, 0};
    }

private:
    void touch(const char* name, bool program)
    {
        QFile made(file(name));
        if (made.open(QIODevice::WriteOnly) && program)
            made.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    }
    QTemporaryDir dir_;
};

QStringList words(const ScriptCommand& command)
{
    QStringList list;
    for (const std::string& word : command.words)
        list << QString::fromStdString(word);
    return list;
}

} // namespace

class ScriptSetupTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theChosenInterpreterRunsTheCommand_data()
    {
        QTest::addColumn<QString>("typed");
        QTest::addColumn<QStringList>("rest"); // after the interpreter
        QTest::newRow("python") << "python train.py --lr 1" << QStringList({"train.py", "--lr", "1"});
        QTest::newRow("python3.11") << "python3.11 -u train.py" << QStringList({"-u", "train.py"});
        QTest::newRow("script alone") << "train.py" << QStringList({"train.py"});
        QTest::newRow("module alone") << "-m pkg.train" << QStringList({"-m", "pkg.train"});
        QTest::newRow("torchrun") << "torchrun --nproc-per-node 2 train.py"
                                  << QStringList({"-m", "torch.distributed.run", "--nproc-per-node", "2",
                                                  "train.py"});
        QTest::newRow("quotes") << "python 'train me.py' \"a b\"" << QStringList({"train me.py", "a b"});
    }
    void theChosenInterpreterRunsTheCommand()
    {
        QFETCH(QString, typed);
        QFETCH(QStringList, rest);
        Workplace place;
        ScriptSetup setup = place.setup("");
        setup.single = typed;
        const ScriptCommand command = singleCommand(setup);
        QCOMPARE(words(command), QStringList(place.file(".venv/bin/python")) + rest);
        QCOMPARE(command.folder, place.path().toStdString());
    }

    void otherLaunchersComeFromTheSameEnvironment()
    {
        Workplace place;
        ScriptSetup setup = place.setup("", "accelerate launch train.py");
        QCOMPARE(words(ddpCommand(setup)).front(), place.file(".venv/bin/accelerate"));
        QVERIFY(!problemsOf(setup).ddp.isEmpty()); // one rank, as far as the words say
        setup.ranks = 4;
        QVERIFY(problemsOf(setup).none());
        QCOMPARE(ddpCommand(setup).world, 4);
        setup.ddp = QStringLiteral("env A=1 python train.py"); // from PATH
        QVERIFY(words(ddpCommand(setup)).front().endsWith(QStringLiteral("/env")));
    }

    void whatIsWrongStandsAtItsField_data()
    {
        QTest::addColumn<QString>("field");
        QTest::addColumn<QString>("value");
        QTest::addColumn<QString>("says");
        QTest::newRow("no folder") << "folder"
                                   << "/nowhere/at/all"
                                   << "/nowhere/at/all";
        QTest::newRow("no interpreter") << "interpreter"
                                        << ""
                                        << "No interpreter";
        QTest::newRow("interpreter not there") << "interpreter"
                                               << ".venv/bin/pypy"
                                               << ".venv/bin/pypy";
        QTest::newRow("interpreter is a script") << "interpreter"
                                                 << "./train.py"
                                                 << "no program";
        QTest::newRow("no script") << "single"
                                   << "python --version"
                                   << "No script";
        QTest::newRow("script not there") << "single"
                                          << "python tarin.py"
                                          << "tarin.py is not in";
        QTest::newRow("module without a name") << "single"
                                               << "python -m"
                                               << "after -m";
        QTest::newRow("open quote") << "single"
                                    << "python 'train.py"
                                    << "not closed";
        QTest::newRow("variable") << "single"
                                  << "A=1 python train.py"
                                  << "env A=1";
        QTest::newRow("program not there") << "single"
                                           << "pyhton train.py"
                                           << "pyhton was not found";
        QTest::newRow("several in the field of one") << "single"
                                                     << "torchrun --nproc-per-node 2 train.py"
                                                     << "several ranks";
        QTest::newRow("one in the field of several") << "ddp"
                                                     << "python train.py"
                                                     << "one rank";
        QTest::newRow("ranks unknown") << "ddp"
                                       << "torchrun --nproc-per-node gpu train.py"
                                       << "how many ranks";
        QTest::newRow("too many ranks") << "ddp"
                                        << "torchrun --nproc-per-node 5000 train.py"
                                        << "1024";
        QTest::newRow("pattern unreadable") << "metric"
                                            << "loss=("
                                            << "cannot be read";
        QTest::newRow("pattern without a group") << "metric"
                                                 << "loss=[0-9]+"
                                                 << "parentheses";
    }
    void whatIsWrongStandsAtItsField()
    {
        QFETCH(QString, field);
        QFETCH(QString, value);
        QFETCH(QString, says);
        Workplace place;
        ScriptSetup setup = place.setup("python train.py", "torchrun --nproc-per-node 2 train.py");
        QVERIFY(problemsOf(setup).none());
        QString& changed = field == QLatin1String("folder")        ? setup.folder
                           : field == QLatin1String("interpreter") ? setup.interpreter
                           : field == QLatin1String("single")      ? setup.single
                           : field == QLatin1String("ddp")         ? setup.ddp
                                                                   : setup.metric;
        changed = value;
        const ScriptProblems problems = problemsOf(setup);
        const QString& sentence = field == QLatin1String("folder")        ? problems.folder
                                  : field == QLatin1String("interpreter") ? problems.interpreter
                                  : field == QLatin1String("single")      ? problems.single
                                  : field == QLatin1String("ddp")         ? problems.ddp
                                                                          : problems.metric;
        QVERIFY2(sentence.contains(says), qPrintable(sentence));
        QVERIFY(!problems.none());
    }

    void oneOfTheTwoCommandsIsEnough()
    {
        Workplace place;
        QVERIFY(problemsOf(place.setup("python train.py")).none());
        QVERIFY(problemsOf(place.setup("", "torchrun --nproc-per-node 2 train.py")).none());
        QVERIFY(!problemsOf(place.setup("", "")).none());
        QVERIFY(!problemsOf({}).none());
    }

    void theEnvironmentBesideTheScriptsIsOfferedFirst()
    {
        Workplace place;
        QCOMPARE(interpreterChoices(place.path()).value(0), place.file(".venv/bin/python"));
        QDir(place.path()).mkpath(QStringLiteral("scripts"));
        QCOMPARE(interpreterChoices(place.file("scripts")).value(0), place.file(".venv/bin/python"));
    }

    void theSessionBringsItBack()
    {
        ScriptSetup setup{QStringLiteral("/a"), QStringLiteral("p"), QStringLiteral("s"),
                          QStringLiteral("d"),  QStringLiteral("m"), 3};
        QVERIFY(fromSession(toSession(setup)) == setup);
        QVERIFY(fromSession({}) == ScriptSetup());
        QVERIFY(fromSession({{QStringLiteral("ranks"), -7}}) == ScriptSetup());
    }

    void whatRanBeforeIsSuggestedAsItWasTyped()
    {
        Workplace place;
        const ScriptSetup typed =
            place.setup("python train.py --name 'a b'", "torchrun --nproc-per-node 2 train.py");
        const ScriptCommand single = singleCommand(typed), ddp = ddpCommand(typed);
        ScriptSetup again = fromCommands(&single, &ddp);
        QCOMPARE(again.single, typed.single);
        QCOMPARE(again.ddp, typed.ddp);
        QCOMPARE(again.folder, place.path());
        QCOMPARE(again.interpreter, place.file(".venv/bin/python"));
        QCOMPARE(words(ddpCommand(again)), words(ddp));
        QVERIFY(fromCommands(nullptr, nullptr) == ScriptSetup());
        // As it came from a terminal: the launcher of the environment by its path.
        ScriptCommand terminal = ddp;
        terminal.words = {".venv/bin/torchrun", "--nproc-per-node", "2", "train.py"};
        terminal.program = place.file(".venv/bin/torchrun").toStdString();
        again = fromCommands(nullptr, &terminal);
        QCOMPARE(again.ddp, typed.ddp);
        QCOMPARE(again.interpreter, place.file(".venv/bin/python"));
    }

    void wordsAreThoseOfAShell_data()
    {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QStringList>("expected");
        QTest::newRow("blanks") << "  a   b\t" << QStringList({"a", "b"});
        QTest::newRow("single quotes") << "a 'b \"c\\' d" << QStringList({"a", "b \"c\\", "d"});
        QTest::newRow("double quotes") << "\"a \\\"b\\\" \\n\"" << QStringList({"a \"b\" \\n"});
        QTest::newRow("joined") << "--x='1 2'3" << QStringList({"--x=1 23"});
        QTest::newRow("empty word") << "a ''" << QStringList({"a", ""});
        QTest::newRow("backslash") << "a\\ b c\\" << QStringList({"a b", "c\\"});
    }
    void wordsAreThoseOfAShell()
    {
        QFETCH(QString, line);
        QFETCH(QStringList, expected);
        QCOMPARE(splitShell(line).value(), expected);
        QCOMPARE(splitShell(shellLine(expected)).value(), expected);
        QVERIFY(!splitShell(line + QStringLiteral(" 'x")));
    }
};

QTEST_GUILESS_MAIN(ScriptSetupTest)
#include "tst_script_setup.moc"
