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
        EvidenceText text{row.value(QLatin1String("label")).toString(),
                          row.value(QLatin1String("text")).toString(),
                          row.value(QLatin1String("excludes")).toBool()};
        if (!text.label.isEmpty() || !text.text.isEmpty())
            rows.push_back(std::move(text));
    }
    return rows;
}

QString evidenceHtml(const std::vector<EvidenceText>& rows, int most)
{
    QString html;
    const int shown = std::min(most, int(rows.size()));
    for (int i = 0; i < shown; ++i)
        html +=
            QStringLiteral("<tr><td style='padding-right:10px'>%1</td><td>%2</td></tr>")
                .arg(rows[std::size_t(i)].label.toHtmlEscaped(), rows[std::size_t(i)].text.toHtmlEscaped());
    if (int(rows.size()) > shown)
        html += QStringLiteral("<tr><td></td><td>%1</td></tr>")
                    .arg(QCoreApplication::translate("lockstep::Evidence", "%1 more")
                             .arg(int(rows.size()) - shown));
    return html.isEmpty() ? html : QStringLiteral("<table>%1</table>").arg(html);
}

} // namespace lockstep
