#include "ui/models/shell_words.h"

#include <QRegularExpression>

namespace lockstep {

std::optional<QStringList> splitShell(const QString& line)
{
    QStringList words;
    QString word;
    bool inWord = false;
    QChar quote;
    for (qsizetype i = 0; i < line.size(); ++i) {
        const QChar c = line[i];
        if (quote.isNull() && c.isSpace()) {
            if (inWord)
                words << word;
            word.clear();
            inWord = false;
            continue;
        }
        inWord = true;
        const bool last = i + 1 == line.size();
        if (!quote.isNull() && c == quote)
            quote = QChar();
        else if (quote.isNull() && (c == QLatin1Char('\'') || c == QLatin1Char('"')))
            quote = c;
        else if (c == QLatin1Char('\\') && quote.isNull() && !last)
            word += line[++i];
        else if (c == QLatin1Char('\\') && quote == QLatin1Char('"') && !last &&
                 QStringLiteral("\"\\$`").contains(line[i + 1]))
            word += line[++i];
        else
            word += c;
    }
    if (!quote.isNull())
        return std::nullopt;
    if (inWord)
        words << word;
    return words;
}

QString shellLine(const QStringList& words)
{
    static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_./:=,@%+-]+$"));
    QStringList quoted;
    for (const QString& word : words) {
        if (plain.match(word).hasMatch()) {
            quoted << word;
            continue;
        }
        QString inner = word;
        inner.replace(QLatin1Char('\''), QStringLiteral("'\\''"));
        quoted << QLatin1Char('\'') + inner + QLatin1Char('\'');
    }
    return quoted.join(QLatin1Char(' '));
}

} // namespace lockstep
