// "Use my script", beside the table of runs: interpreter, folder and the two commands a person types in a terminal. Checked
// while it is typed, with the sentence under the field; shows the exact lines that will run; starts both one after the other
// and follows them. Nothing runs in the window: it asks RunCommands. An interpreter that nobody chose here and that is not
// of this user's environment is shown and not started before it is asked for (known_interpreters.h).
#pragma once

#include "ui/models/script_setup.h"
#include "ui/pages/page.h"

#include <QFrame>
#include <QHash>

#include <functional>

class QComboBox;
class QLineEdit;
class QSpinBox;
class QToolButton;

namespace lockstep {

class Banner;
class CodeBlock;
class ScriptRunsView;

class ScriptPanel : public QFrame
{
    Q_OBJECT

public:
    explicit ScriptPanel(const PageContext& context, QWidget* parent = nullptr);

    void setSetup(const ScriptSetup& setup);
    ScriptSetup setup() const;
    // What the project's runs or this machine suggest, unless a command has been entered.
    void suggest();
    void focusFirst();
    bool busy() const { return !asked_.isEmpty(); } // an interpreter is being asked for its torch

protected:
    bool event(QEvent* event) override;

Q_SIGNALS:
    void closeRequested();
    void builtInRequested(); // the form for the engine's workloads instead
    void openRequested(const QString& pageId, const QString& argument);

private:
    // A field with its title above and, below, what is known of it.
    struct Field {
        QWidget* editor = nullptr;
        QLabel* note = nullptr;
    };
    QWidget* makeHead();
    QWidget* makeForm();
    QWidget* makeFoot();
    Field addField(QVBoxLayout* column, const QString& title, QWidget* editor, QToolButton* choose = nullptr);
    QLineEdit* makeEdit(const char* name, const QString& hint);
    QToolButton* makeChooser(const QString& what, const std::function<void()>& act);
    void chooseScript(QLineEdit* edit, const QString& launcher);
    static void tell(const Field& field, const QString& problem, const QString& fact = {});
    void refresh();
    void askInterpreter(const QString& path);
    void interpreterChosen(); // by hand
    void interpreterSaid(const InterpreterFacts& facts);
    void tellInterpreter(const QString& problem);
    bool torchKnown() const;
    void start();
    QList<ScriptRun> scripts(const ScriptSetup& setup) const;

    PageContext context_;
    QLineEdit *folder_, *single_, *ddp_, *metric_;
    QComboBox* interpreter_;
    QSpinBox* ranks_;
    Field folderField_, interpreterField_, singleField_, ddpField_, metricField_;
    QHash<QString, InterpreterFacts> known_; // by absolute path
    QString asked_;                          // path whose answer is awaited
    QString chosen_;                         // path that was chosen here by hand
    QPushButton* ask_ = nullptr;             // starts an interpreter that came with the project
    QStringList suggestions_; // interpreters of this machine; the first is the one suggested last
    QLabel* linesTitle_;
    CodeBlock* lines_;
    Banner* banner_;
    QPushButton* start_;
    ScriptRunsView* runs_;
};

} // namespace lockstep
