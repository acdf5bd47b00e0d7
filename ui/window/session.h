// DIR/session.json: the window's own state (page, geometry, selection, zoom), written by the dashboard only. A project
// that cannot be written is simply not remembered.
#pragma once

#include <QJsonObject>
#include <QString>

namespace lockstep {

class Session
{
public:
    // Reads what is there; anything unreadable counts as empty.
    static Session load(const QString& projectFolder);
    // Written to a temporary name and renamed. False: the folder is read-only or full.
    bool save() const;

    QJsonObject window() const { return root_.value(QStringLiteral("window")).toObject(); }
    void setWindow(const QJsonObject& state) { root_.insert(QStringLiteral("window"), state); }
    QJsonObject page(const QString& id) const;
    void setPage(const QString& id, const QJsonObject& state);
    QJsonObject selection() const { return root_.value(QStringLiteral("selection")).toObject(); }
    void setSelection(const QJsonObject& state) { root_.insert(QStringLiteral("selection"), state); }

private:
    QString path_;
    QJsonObject root_;
};

} // namespace lockstep
