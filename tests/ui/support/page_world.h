// What the window would lend to a page, wired as the window wires it, on a project of the fixture.
#pragma once

#include "ui/models/comparison_model.h"
#include "ui/models/gates_model.h"
#include "ui/models/project_model.h"
#include "ui/models/runs_model.h"
#include "ui/pages/page.h"
#include "ui/support/fake_commands.h"
#include "ui/support/project_fixture.h"
#include "ui/widgets/building_blocks.h"

#include <QTest>
#include <QUndoStack>

namespace lockstep::test {

struct PageWorld {
    ProjectFixture project;
    FakeCommands commands;
    ProjectModel model;
    RunsModel runs;
    GatesModel gates;
    ComparisonModel comparisons;
    RunSelection selection;
    QUndoStack undo;
    PageContext context{model, runs, gates, comparisons, selection, commands, undo};

    PageWorld()
    {
        QObject::connect(&model, &ProjectModel::changed, &runs, &RunsModel::setSnapshot);
        QObject::connect(&model, &ProjectModel::changed, &comparisons, &ComparisonModel::setSnapshot);
        QObject::connect(&model, &ProjectModel::changed, &gates,
                         [this](const ProjectSnapshotPtr& s) { gates.setSnapshot(*s, true); });
        QObject::connect(&comparisons, &ComparisonModel::verdictsChanged, &runs, &RunsModel::setVerdicts);
        QObject::connect(&selection, &RunSelection::runsChanged, &runs,
                         [this] { runs.setMarks(selection.runA(), selection.runB()); });
    }
    bool open()
    {
        model.open(project.folder());
        return QTest::qWaitFor([this] { return model.isOpen(); });
    }
};

template<typename T>
void showPage(T& page)
{
    page.resize(1400, 900);
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    page.open({});
}

template<typename T>
T* child(QWidget& page, const char* name)
{
    return page.findChild<T*>(QString::fromLatin1(name));
}

// Some visible label of the page has this text in it.
inline bool shows(const QWidget& page, const QString& text)
{
    for (const QLabel* label : page.findChildren<QLabel*>()) {
        const auto* elided = qobject_cast<const ElidedLabel*>(label);
        if (label->isVisible() && (elided ? elided->fullText() : label->text()).contains(text))
            return true;
    }
    return false;
}

} // namespace lockstep::test
