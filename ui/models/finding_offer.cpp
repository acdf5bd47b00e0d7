#include "ui/models/finding_offer.h"

#include "core/align/diagnose/class_separation.h"
#include "core/align/diagnose/deciding_setting.h"
#include "core/config/json.h"
#include "core/gates/sample_agreement.h"
#include "ui/models/format.h"

#include <QCoreApplication>
#include <QStringList>

namespace lockstep {

namespace {

struct Tr {
    Q_DECLARE_TR_FUNCTIONS(lockstep::FindingOffer)
};

std::vector<std::string> causesOf(const FindingRow& finding)
{
    std::vector<std::string> causes;
    for (const QString& cause : qs(finding.cause).split(QStringLiteral(", ")))
        causes.push_back(cause.toStdString());
    return causes;
}

void offerSeparation(const std::vector<std::string>& causes, const RunConfig& suspect, FindingOffer& offer)
{
    const auto change = align::separatingChange(causes, traitsOf(suspect));
    if (!change)
        return;
    const QString with =
        change->setting == "accumulate" ? Tr::tr("%n micro-batch(es) per step", nullptr, int(change->value))
        : change->setting == "batch"    ? Tr::tr("%n sample(s) per rank", nullptr, int(change->value))
                                        : Tr::tr("%n rank(s)", nullptr, int(change->value));
    QStringList ids;
    for (const std::string& cause : causes)
        ids << qs(cause);
    const QString joined = ids.join(Tr::tr(" and "));
    if (isScript(suspect)) { // its own code decides its counts
        offer.separates =
            Tr::tr("In these runs %1 are the same bits. Run both scripts with %2 and diagnose that pair.")
                .arg(joined, with);
        return;
    }
    offer.separates =
        Tr::tr("In these runs %1 are the same bits. A few steps of both with %2 tell them apart.")
            .arg(joined, with);
    offer.separateButton = Tr::tr("Run both with %1").arg(with);
}

// nullopt: no such setting, or a value it cannot have.
std::optional<RunConfig> withSetting(const RunConfig& config, const std::string& name,
                                     const std::string& value)
{
    rapidjson::Document json;
    json.Parse(toJson(config).c_str());
    const auto member = json.FindMember(name.c_str());
    if (member == json.MemberEnd())
        return std::nullopt;
    if (member->value.IsString()) {
        member->value.SetString(value.c_str(), rapidjson::SizeType(value.size()), json.GetAllocator());
    } else {
        rapidjson::Document parsed;
        if (parsed.Parse(value.c_str()).HasParseError())
            return std::nullopt;
        member->value.CopyFrom(parsed, json.GetAllocator());
    }
    rapidjson::StringBuffer buffer;
    JsonWriter writer(buffer);
    json.Accept(writer);
    const Result<RunConfig> changed = runConfigFromJson(buffer.GetString());
    return changed && validate(*changed) ? std::optional(*changed) : std::nullopt;
}

void offerSetting(const std::string& cause, const RunEntry& reference, const RunEntry& suspect,
                  FindingOffer& offer)
{
    const auto setting = align::decidingSetting(cause, traitsOf(reference.config), traitsOf(suspect.config));
    if (!setting)
        return;
    offer.mended = withSetting(suspect.config, setting->name, setting->value);
    if (!offer.mended)
        return;
    if (suspect.auxiliary())
        offer.mended->name.clear(); // a run of people, not of a gate
    std::string now;
    for (const auto& [name, value] : flatten(suspect.config))
        if (name == setting->name)
            now = value;
    offer.change = Tr::tr("%1 %2 instead of %3").arg(qs(setting->name), qs(setting->value), qs(now));
}

} // namespace

FindingOffer findingOffer(const FindingRow& finding, const ProjectSnapshot& snapshot)
{
    FindingOffer offer;
    const RunEntry* reference = snapshot.run(qs(finding.runA));
    const RunEntry* suspect = snapshot.run(qs(finding.runB));
    if (!reference || !suspect || !reference->configReadable || !suspect->configReadable ||
        finding.confidence == "benign")
        return offer;
    const std::vector<std::string> causes = causesOf(finding);
    if (causes.size() > 1)
        offerSeparation(causes, suspect->config, offer);
    else if (!isScript(suspect->config))
        offerSetting(causes.front(), *reference, *suspect, offer);
    return offer;
}

} // namespace lockstep
