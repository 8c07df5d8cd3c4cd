#include "worker/execute/answer_agreement.h"

#include <algorithm>
#include <cmath>

#include "worker/model/elements.h"

namespace mpsd {
namespace {

// The products of which a cosine is made.
struct Products {
  double both = 0;
  double fp32 = 0;
  double given = 0;

  // Two vectors of zeros point the same way.
  double Cosine() const {
    if (fp32 == 0 && given == 0) return 1;
    if (fp32 == 0 || given == 0) return 0;
    return both / std::sqrt(fp32 * given);
  }
};

// Compares the floats of one output. Lives for one comparison.
class FloatComparison {
 public:
  FloatComparison(const KeptOutput& fp32, const KeptOutput& given, Agreement* agreement)
      : fp32_(fp32),
        given_(given),
        bytes_(ElementBytes(fp32.datatype)),
        count_(fp32.bytes.size() / bytes_),
        agreement_(agreement) {}

  void Compare(size_t rows, const std::set<uint32_t>& failed_rows) {
    const size_t width = count_ / rows;
    Products of_all;
    for (size_t row = 0; row < rows; ++row) {
      if (failed_rows.count(static_cast<uint32_t>(row)) > 0) continue;
      Products of_row;
      for (size_t i = row * width; i < (row + 1) * width; ++i) CompareAt(i, &of_row, &of_all);
      if (width > 1) TakeCosine(of_row);
    }
    if (width == 1) TakeCosine(of_all);
    if (largest_ > 0) agreement_->relative_error = farthest_ / largest_;
  }

 private:
  void TakeCosine(const Products& products) {
    agreement_->cosine = std::min(agreement_->cosine, products.Cosine());
  }

  void CompareAt(size_t index, Products* of_row, Products* of_all) {
    const double x = ReadElement(fp32_.datatype, fp32_.bytes.data() + index * bytes_);
    const double y = ReadElement(given_.datatype, given_.bytes.data() + index * bytes_);
    if (!std::isfinite(x) && !std::isfinite(y)) return;
    ++agreement_->compared;
    if (!std::isfinite(x) || !std::isfinite(y)) {
      agreement_->same_finite = false;
      return;
    }
    for (Products* products : {of_row, of_all}) {
      products->both += x * y;
      products->fp32 += x * x;
      products->given += y * y;
    }
    largest_ = std::max(largest_, std::fabs(x));
    farthest_ = std::max(farthest_, std::fabs(x - y));
  }

  const KeptOutput& fp32_;
  const KeptOutput& given_;
  const size_t bytes_;
  const size_t count_;
  Agreement* const agreement_;
  double largest_ = 0;
  double farthest_ = 0;
};

Agreement CompareOutput(const std::string& name, const KeptOutput& fp32, const KeptOutput& given,
                        size_t rows, const std::set<uint32_t>& failed_rows) {
  Agreement agreement;
  agreement.output = name;
  agreement.is_alike = fp32.datatype == given.datatype && fp32.bytes.size() == given.bytes.size();
  if (!agreement.is_alike) return agreement;
  if (IsFloat(fp32.datatype)) {
    FloatComparison(fp32, given, &agreement).Compare(rows, failed_rows);
  } else {
    agreement.is_alike = fp32.bytes == given.bytes;
    agreement.compared = fp32.bytes.size();
  }
  return agreement;
}

}  // namespace

std::vector<Agreement> CompareAnswers(const ModelSpec& spec, uint32_t rows, const KeptOutputs& fp32,
                                      const KeptOutputs& given) {
  std::vector<Agreement> agreements;
  const size_t rows_compared = spec.batches() ? rows : 1;
  const bool is_alike = fp32.failed_rows() == given.failed_rows() &&
                        fp32.outputs().size() == spec.outputs.size() &&
                        given.outputs().size() == spec.outputs.size();
  for (size_t i = 0; i < spec.outputs.size(); ++i) {
    agreements.push_back(is_alike
                             ? CompareOutput(spec.outputs[i].name, *fp32.outputs()[i],
                                             *given.outputs()[i], rows_compared, fp32.failed_rows())
                             : Agreement{.output = spec.outputs[i].name, .is_alike = false});
  }
  return agreements;
}

}  // namespace mpsd
