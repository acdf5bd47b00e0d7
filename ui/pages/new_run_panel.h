// The form for a new run, beside the table: no dialog. Checked at each change by core/config; the sentence stands under
// the button until the values are possible.
#pragma once

#include "core/config/run_config.h"

#include <QFrame>

class QCheckBox;
class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;
class QSpinBox;

namespace lockstep {

class CodeBlock;
class RunCommands;

class NewRunPanel : public QFrame
{
    Q_OBJECT

public:
    explicit NewRunPanel(RunCommands& commands, QWidget* parent = nullptr);

    void setConfig(const RunConfig& config);
    RunConfig config() const; // as the form stands; may be impossible
    // A word of `run --on-loss`.
    void setOnLoss(const std::string& word);
    void focusFirst();

Q_SIGNALS:
    void closeRequested();
    void scriptRequested(); // the form for a user's script instead

private:
    QComboBox* addChoice(QFormLayout* form, const QString& text, const QStringList& values, const char* name);
    QSpinBox* addNumber(QFormLayout* form, const QString& text, int from, int to, const char* name);
    QLineEdit* addText(QFormLayout* form, const QString& text, const QString& hint, const char* name);
    void refresh();
    void start();

    RunCommands& commands_;
    RunConfig base_;                  // what the form does not show
    QStringList furtherWords() const; // what is no part of the configuration

    QComboBox *mode_, *workload_, *optimizer_, *scheduler_, *record_, *onLoss_;
    QSpinBox* checkpointEvery_;
    QSpinBox *world_, *batch_, *steps_, *accumulate_, *seed_;
    QLineEdit *lr_, *clip_, *fault_, *name_;
    QLabel *worldLabel_, *error_, *warning_;
    QPushButton* start_;
    CodeBlock* command_;
    QString fieldError_;
};

} // namespace lockstep
