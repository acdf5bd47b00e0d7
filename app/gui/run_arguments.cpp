#include "app/gui/run_arguments.h"

#include <QLocale>

namespace lockstep {

namespace {

QString text(const std::string& value)
{
    return QString::fromStdString(value);
}
QString text(double value)
{
    return QString::number(value, 'g', QLocale::FloatingPointShortest);
}
template<typename Integer>
requires std::is_integral_v<Integer> QString text(Integer value)
{
    return QString::number(value);
}

} // namespace

QStringList runArguments(const RunConfig& c)
{
    const RunConfig standard;
    QStringList words{QStringLiteral("--mode"), text(c.mode), QStringLiteral("--workload"), text(c.workload)};
    if (c.mode != "single")
        words << QStringLiteral("--world") << text(c.world);
    const auto option = [&](const char* name, const auto& value, const auto& usual) {
        if (value != usual)
            words << QLatin1String(name) << text(value);
    };
    const auto flag = [&](const char* name, bool on) {
        if (on)
            words << QLatin1String(name);
    };
    option("--align-world", c.alignWorld, standard.alignWorld);
    option("--join-from", c.joinFrom, standard.joinFrom);
    option("--data-world", c.dataWorld, standard.dataWorld);
    option("--batch", c.batch, standard.batch);
    option("--steps", c.steps, standard.steps);
    option("--epochs", c.epochs, standard.epochs);
    option("--order", c.order, standard.order);
    flag("--no-shuffle", !c.shuffle);
    flag("--drop-last", c.dropLast);
    option("--seed", c.seed, standard.seed);
    option("--sampler-seed", c.samplerSeed, standard.samplerSeed);
    option("--optimizer", c.optimizer, standard.optimizer);
    option("--lr", c.lr, standard.lr);
    option("--momentum", c.momentum, standard.momentum);
    option("--weight-decay", c.weightDecay, standard.weightDecay);
    option("--scheduler", c.scheduler, standard.scheduler);
    option("--scheduler-period", c.schedulerPeriod, standard.schedulerPeriod);
    option("--clip-norm", c.clipNorm, standard.clipNorm);
    option("--clip-value", c.clipValue, standard.clipValue);
    option("--accumulate", c.accumulate, standard.accumulate);
    option("--dropout", c.dropout, standard.dropout);
    option("--freeze", c.freeze, standard.freeze);
    option("--freeze-until", c.freezeUntil, standard.freezeUntil);
    option("--amp", c.amp, standard.amp);
    option("--scaler-scale", c.scalerScale, standard.scalerScale);
    option("--scaler-growth-interval", c.scalerGrowthInterval, standard.scalerGrowthInterval);
    option("--backend", c.backend, standard.backend);
    option("--device", c.device, standard.device);
    option("--reduction", c.reduction, standard.reduction);
    flag("--find-unused", c.findUnused);
    flag("--static-graph", c.staticGraph);
    flag("--bucket-view", c.bucketView);
    option("--bucket-mb", c.bucketMb, standard.bucketMb);
    flag("--no-broadcast-buffers", !c.broadcastBuffers);
    option("--threads", c.threads, standard.threads);
    option("--record", c.record, standard.record);
    option("--keep-steps", c.keepSteps, standard.keepSteps);
    option("--checkpoint-every", c.checkpointEvery, standard.checkpointEvery);
    option("--log-every", c.logEvery, standard.logEvery);
    option("--eval-every", c.evalEvery, standard.evalEvery);
    option("--collective-timeout", c.collectiveTimeoutSeconds, standard.collectiveTimeoutSeconds);
    option("--resume", c.resume, standard.resume);
    for (const FaultSpec& fault : c.faults) {
        QString spec = text(fault.id);
        for (const auto& [key, value] : fault.parameters)
            spec += QStringLiteral(",%1=%2").arg(text(key), text(value));
        words << QStringLiteral("--fault") << spec;
    }
    for (const auto& [key, value] : c.workloadOptions)
        words << QStringLiteral("--workload-option") << text(key) + QLatin1Char('=') + text(value);
    option("--name", c.name, standard.name);
    return words;
}

} // namespace lockstep
