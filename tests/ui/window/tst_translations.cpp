// The translation files: nothing unfinished, and every placeholder of the source is in the translation.
#include <QFile>
#include <QRegularExpression>
#include <QTest>
#include <QXmlStreamReader>

#include <set>

namespace {

std::set<QString> placeholders(const QString& text)
{
    static const QRegularExpression pattern(QStringLiteral("%(\\d+|n)"));
    std::set<QString> found;
    for (auto it = pattern.globalMatch(text); it.hasNext();)
        found.insert(it.next().captured());
    return found;
}

struct Message {
    QString source;
    QStringList translations;
    bool unfinished = false;
};

QList<Message> read(const QString& path)
{
    QList<Message> messages;
    QFile file(path);
    if (!file.open(QIODevice::ReadOnly))
        return messages;
    QXmlStreamReader xml(&file);
    while (!xml.atEnd()) {
        if (xml.readNext() != QXmlStreamReader::StartElement)
            continue;
        if (xml.name() == QLatin1String("message"))
            messages << Message();
        else if (xml.name() == QLatin1String("source"))
            messages.last().source = xml.readElementText();
        else if (xml.name() == QLatin1String("translation")) {
            messages.last().unfinished = xml.attributes().hasAttribute(QStringLiteral("type"));
            QString text;
            while (!(xml.readNext() == QXmlStreamReader::EndElement &&
                     xml.name() == QLatin1String("translation"))) {
                if (xml.isStartElement() && xml.name() == QLatin1String("numerusform"))
                    messages.last().translations << xml.readElementText();
                else if (xml.isCharacters())
                    text += xml.text();
            }
            if (messages.last().translations.isEmpty())
                messages.last().translations << text;
        }
    }
    return messages;
}

} // namespace

class TranslationsTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyTextIsTranslated_data()
    {
        QTest::addColumn<QString>("file");
        QTest::addColumn<int>("least");
        QTest::newRow("Chinese") << "lockstep_zh_CN.ts" << 500;
        QTest::newRow("English-plurals") << "lockstep_en.ts" << 10;
    }
    void everyTextIsTranslated()
    {
        QFETCH(QString, file);
        QFETCH(int, least);
        const QList<Message> messages = read(QStringLiteral(LOCKSTEP_SOURCE_DIR "/resources/i18n/") + file);
        QVERIFY(messages.size() >= least);
        for (const Message& message : messages) {
            QVERIFY2(!message.unfinished, qPrintable(QStringLiteral("unfinished: ") + message.source));
            for (const QString& text : message.translations) {
                QVERIFY2(!text.isEmpty(), qPrintable(QStringLiteral("empty: ") + message.source));
                QVERIFY2(placeholders(text) == placeholders(message.source), qPrintable(message.source));
            }
        }
    }
};

QTEST_GUILESS_MAIN(TranslationsTest)
#include "tst_translations.moc"
