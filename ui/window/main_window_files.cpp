// Files that people drop on the window or choose for import.
#include "ui/models/log_files.h"
#include "ui/pages/start_page.h"
#include "ui/window/main_window.h"

#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMimeData>

namespace lockstep {

void MainWindow::logsImported(const QStringList& runs, const QStringList& problems)
{
    project_.refresh();
    const QString made = tr("Imported: %1.").arg(runs.join(QStringLiteral(", ")));
    message_->setText(problems.isEmpty() ? made : made + QLatin1Char(' ') + problems.front());
    message_->setToolTip(problems.join(QLatin1Char('\n')));
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event)
{
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::importLogs(const QStringList& paths)
{
    if (!project_.isOpen())
        start_->showError(
            tr("A log becomes a run of a project. Open or create one first, then drop the log again."));
    else if (!paths.isEmpty())
        commands_.importLogs(paths);
}

void MainWindow::chooseLogs()
{
    importLogs(QFileDialog::getOpenFileNames(this, tr("Import logs of other tools")));
}

// A folder with lockstep.db is a project, what holds logs is imported; everything else is taken for a checkpoint, which says
// itself if it is none.
void MainWindow::dropEvent(QDropEvent* event)
{
    QStringList logs;
    for (const QUrl& url : event->mimeData()->urls()) {
        const QString path = url.toLocalFile();
        if (path.isEmpty())
            continue;
        if (QFileInfo::exists(path + QStringLiteral("/lockstep.db")))
            openProject(path);
        else if (QFileInfo(path).fileName() == QLatin1String("lockstep.db"))
            openProject(QFileInfo(path).path());
        else if (isLogOfAnotherTool(path))
            logs << path;
        else
            openPage(QStringLiteral("checkpoints"), QStringLiteral("file:") + path);
    }
    if (!logs.isEmpty())
        importLogs(logs);
}

} // namespace lockstep
