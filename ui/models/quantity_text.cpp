#include "ui/models/quantity_text.h"

#include "core/base/records.h"
#include "ui/models/format.h"

#include <QCoreApplication>

#include <array>

namespace lockstep {

namespace {

// Listed for the translation tools; the texts are those of core/base/quantity.cpp (tst_models checks that none is missing).
[[maybe_unused]] constexpr std::array kTitles = {
    QT_TRANSLATE_NOOP("Quantity", "epoch"),
    QT_TRANSLATE_NOOP("Quantity", "micro-steps"),
    QT_TRANSLATE_NOOP("Quantity", "samples seen"),
    QT_TRANSLATE_NOOP("Quantity", "tokens seen"),
    QT_TRANSLATE_NOOP("Quantity", "time for data"),
    QT_TRANSLATE_NOOP("Quantity", "time for forward"),
    QT_TRANSLATE_NOOP("Quantity", "time for backward"),
    QT_TRANSLATE_NOOP("Quantity", "wait for reduction"),
    QT_TRANSLATE_NOOP("Quantity", "time for optimizer"),
    QT_TRANSLATE_NOOP("Quantity", "step time"),
    QT_TRANSLATE_NOOP("Quantity", "loss"),
    QT_TRANSLATE_NOOP("Quantity", "loss of a micro-batch"),
    QT_TRANSLATE_NOOP("Quantity", "samples of a micro-batch"),
    QT_TRANSLATE_NOOP("Quantity", "tokens of a micro-batch"),
    QT_TRANSLATE_NOOP("Quantity", "loss as logged"),
    QT_TRANSLATE_NOOP("Quantity", "time for evaluation"),
    QT_TRANSLATE_NOOP("Quantity", "evaluation loss"),
    QT_TRANSLATE_NOOP("Quantity", "evaluation accuracy"),
    QT_TRANSLATE_NOOP("Quantity", "samples evaluated"),
    QT_TRANSLATE_NOOP("Quantity", "samples evaluated by this rank"),
    QT_TRANSLATE_NOOP("Quantity", "size of the evaluation set"),
    QT_TRANSLATE_NOOP("Quantity", "learning rate"),
    QT_TRANSLATE_NOOP("Quantity", "gradient norm before reduction"),
    QT_TRANSLATE_NOOP("Quantity", "gradient norm after reduction"),
    QT_TRANSLATE_NOOP("Quantity", "gradient norm after clipping"),
    QT_TRANSLATE_NOOP("Quantity", "norm used for clipping"),
    QT_TRANSLATE_NOOP("Quantity", "gradient projection before reduction"),
    QT_TRANSLATE_NOOP("Quantity", "gradient projection after reduction"),
    QT_TRANSLATE_NOOP("Quantity", "update norm"),
    QT_TRANSLATE_NOOP("Quantity", "fingerprint of parameters"),
    QT_TRANSLATE_NOOP("Quantity", "fingerprint of buffers"),
    QT_TRANSLATE_NOOP("Quantity", "fingerprint of optimizer state"),
    QT_TRANSLATE_NOOP("Quantity", "optimizer step counter"),
    QT_TRANSLATE_NOOP("Quantity", "collectives"),
    QT_TRANSLATE_NOOP("Quantity", "bytes in collectives"),
    QT_TRANSLATE_NOOP("Quantity", "dtype of the gradient collective"),
    QT_TRANSLATE_NOOP("Quantity", "loss scale"),
    QT_TRANSLATE_NOOP("Quantity", "inf or NaN found"),
    QT_TRANSLATE_NOOP("Quantity", "step skipped"),
    QT_TRANSLATE_NOOP("Quantity", "fingerprint of the CPU generator"),
    QT_TRANSLATE_NOOP("Quantity", "fingerprint of the CUDA generator"),
    QT_TRANSLATE_NOOP("Quantity", "sample ids"),
    QT_TRANSLATE_NOOP("Quantity", "sample contents"),
    QT_TRANSLATE_NOOP("Quantity", "other logged value"),
};

} // namespace

QString quantityTitle(Quantity quantity)
{
    const QuantityInfo* info = quantityInfo(quantity);
    if (!info)
        return QCoreApplication::translate("Quantity", "quantity %1").arg(int(quantity));
    return QCoreApplication::translate("Quantity", std::string(info->title).c_str());
}

QString linkTitle(CausalLink link)
{
    switch (link) {
    case CausalLink::Config:
        return QCoreApplication::translate("CausalLink", "config");
    case CausalLink::SampleIds:
        return QCoreApplication::translate("CausalLink", "sample ids");
    case CausalLink::Content:
        return QCoreApplication::translate("CausalLink", "content");
    case CausalLink::Rng:
        return QCoreApplication::translate("CausalLink", "RNG");
    case CausalLink::Forward:
        return QCoreApplication::translate("CausalLink", "forward loss");
    case CausalLink::PreReduction:
        return QCoreApplication::translate("CausalLink", "pre-reduction gradient");
    case CausalLink::Reduced:
        return QCoreApplication::translate("CausalLink", "reduced gradient");
    case CausalLink::Clipping:
        return QCoreApplication::translate("CausalLink", "clipping");
    case CausalLink::Update:
        return QCoreApplication::translate("CausalLink", "update");
    case CausalLink::Parameters:
        return QCoreApplication::translate("CausalLink", "parameters");
    case CausalLink::Buffers:
        return QCoreApplication::translate("CausalLink", "buffers");
    case CausalLink::Logged:
        return QCoreApplication::translate("CausalLink", "logged values");
    case CausalLink::None:
        break;
    }
    return {};
}

QString formatBits(Quantity quantity, std::uint64_t bits)
{
    const QuantityInfo* info = quantityInfo(quantity);
    if (!info || info->type == ValueType::U64)
        return QStringLiteral("%1").arg(qulonglong(bits), 16, 16, QLatin1Char('0'));
    if (info->type == ValueType::I64)
        return QString::number(std::int64_t(bits));
    return formatExact(doubleOf(bits));
}

} // namespace lockstep
