#include "ui/window/session.h"

#include <QFile>
#include <QJsonDocument>
#include <QSaveFile>

namespace lockstep {

Session Session::load(const QString& projectFolder)
{
    Session session;
    session.path_ = projectFolder + QStringLiteral("/session.json");
    QFile file(session.path_);
    if (file.open(QIODevice::ReadOnly))
        session.root_ = QJsonDocument::fromJson(file.readAll()).object();
    return session;
}

bool Session::save() const
{
    QSaveFile file(path_);
    if (!file.open(QIODevice::WriteOnly))
        return false;
    file.write(QJsonDocument(root_).toJson(QJsonDocument::Indented));
    return file.commit();
}

QJsonObject Session::page(const QString& id) const
{
    return root_.value(QStringLiteral("pages")).toObject().value(id).toObject();
}

void Session::setPage(const QString& id, const QJsonObject& state)
{
    QJsonObject pages = root_.value(QStringLiteral("pages")).toObject();
    if (state.isEmpty())
        pages.remove(id);
    else
        pages.insert(id, state);
    root_.insert(QStringLiteral("pages"), pages);
}

} // namespace lockstep
