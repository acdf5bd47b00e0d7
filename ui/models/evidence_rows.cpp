#include "ui/models/evidence_rows.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>

#include <algorithm>

namespace lockstep {

std::vector<EvidenceText> evidenceRows(const std::string& json)
{
    std::vector<EvidenceText> rows;
    const QJsonArray array = QJsonDocument::fromJson(QByteArray::fromStdString(json)).array();
    for (const QJsonValue& value : array) {
        const QJsonObject row = value.toObject();
        EvidenceText text{
            row.value(QLatin1String("label")).toString(),   row.value(QLatin1String("text")).toString(),
            row.value(QLatin1String("excludes")).toBool(),  row.value(QLatin1String("quantity")).toString(),
            row.value(QLatin1String("step")).toInteger(-1), row.value(QLatin1String("rank")).toInt(-1)};
        if (!text.label.isEmpty() || !text.text.isEmpty())
            rows.push_back(std::move(text));
    }
    return rows;
}

namespace {

QString table(const std::vector<EvidenceText>& rows, int most, bool links)
{
    QString html;
    const int shown = std::min(most, int(rows.size()));
    for (int i = 0; i < shown; ++i) {
        const EvidenceText& row = rows[std::size_t(i)];
        const QString label = row.label.toHtmlEscaped();
        html +=
            QStringLiteral("<tr><td style='padding-right:10px'>%1</td><td>%2</td></tr>")
                .arg(
                    links && row.hasPlace()
                        ? QStringLiteral("<a href='%1' style='text-decoration:none'>%2</a>").arg(i).arg(label)
                        : label,
                    row.text.toHtmlEscaped());
    }
    if (int(rows.size()) > shown)
        html += QStringLiteral("<tr><td></td><td>%1</td></tr>")
                    .arg(QCoreApplication::translate("lockstep::Evidence", "%1 more")
                             .arg(int(rows.size()) - shown));
    return html.isEmpty() ? html : QStringLiteral("<table>%1</table>").arg(html);
}

} // namespace

QString evidenceHtml(const std::vector<EvidenceText>& rows, int most)
{
    return table(rows, most, false);
}

QString evidenceLinks(const std::vector<EvidenceText>& rows, int most)
{
    return table(rows, most, true);
}

} // namespace lockstep
