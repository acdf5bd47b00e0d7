// The steps of --keep-steps.
#include "core/config/step_choice.h"

#include <QtTest>

using namespace lockstep;

class TestStepChoice : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void numbersAndRanges();
    void nothingIsNoStep();
    void whatIsNoStepIsNamed_data();
    void whatIsNoStepIsNamed();
};

void TestStepChoice::numbersAndRanges()
{
    const Result<StepChoice> choice = StepChoice::parse("1,10,200-202");
    QVERIFY(choice.ok());
    for (const int step : {1, 10, 200, 201, 202})
        QVERIFY(choice->contains(step));
    for (const int step : {0, 2, 9, 11, 199, 203})
        QVERIFY(!choice->contains(step));
}

void TestStepChoice::nothingIsNoStep()
{
    const Result<StepChoice> choice = StepChoice::parse("");
    QVERIFY(choice.ok());
    QVERIFY(!choice->contains(1));
}

void TestStepChoice::whatIsNoStepIsNamed_data()
{
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("part");
    QTest::newRow("word") << "1,x"
                          << "x";
    QTest::newRow("zero") << "0"
                          << "0";
    QTest::newRow("backwards") << "5-3"
                               << "5-3";
    QTest::newRow("open") << "5-"
                          << "5-";
    QTest::newRow("negative") << "-5"
                              << "-5";
    QTest::newRow("empty part") << "1,,2"
                                << " is neither";
    QTest::newRow("large") << "99999999999999999999"
                           << "99999999999999999999";
}

void TestStepChoice::whatIsNoStepIsNamed()
{
    QFETCH(QString, text);
    QFETCH(QString, part);
    const Result<StepChoice> choice = StepChoice::parse(text.toStdString());
    QVERIFY(!choice.ok());
    QVERIFY2(choice.error().why.find(part.toStdString()) != std::string::npos, choice.error().why.c_str());
}

QTEST_GUILESS_MAIN(TestStepChoice)
#include "tst_step_choice.moc"
