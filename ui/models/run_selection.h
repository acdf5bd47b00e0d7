// What the user looks at, shared by the pages: runs A and B, the runs drawn in Curves, the step under the cursor.
#pragma once

#include <QObject>
#include <QStringList>

#include <optional>

namespace lockstep {

class RunSelection : public QObject
{
    Q_OBJECT

public:
    using QObject::QObject;

    QString runA() const { return runA_; } // the reference
    QString runB() const { return runB_; }
    void setRuns(const QString& runA, const QString& runB);

    // Further runs drawn in Curves beside A and B, in the order they were added.
    QStringList extraRuns() const { return extra_; }
    void setExtraRuns(const QStringList& runs);
    // A, B and the extra ones, each once.
    QStringList chosen() const;

    std::optional<qint64> step() const { return step_; }
    void setStep(std::optional<qint64> step);

    // Drops runs that are not in the project any more.
    void keepOnly(const QStringList& existing);

Q_SIGNALS:
    void runsChanged();
    void stepChanged(std::optional<qint64> step);

private:
    QString runA_, runB_;
    QStringList extra_;
    std::optional<qint64> step_;
};

} // namespace lockstep
