#include "daemon/metrics/exposition.h"

#include <prometheus/text_serializer.h>

#include <array>
#include <charconv>
#include <cmath>

#include "base/text.h"

namespace plimsoll::metrics {
namespace {

using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::string_view kOpenMetricsType = "application/openmetrics-text";
constexpr std::string_view kTotal = "_total";

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  std::array<char, 32> text{};  // the shortest form of any double is shorter
  const auto end = std::to_chars(text.begin(), text.end(), value).ptr;
  return {text.begin(), end};
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '\\' || c == '"') {
      out += {'\\', c};
    } else {
      out += c;
    }
  }
  return out;
}

// "{a="b",le="1"}"; nothing without labels.
std::string labels_of(const ClientMetric& metric, std::string_view bound) {
  std::string out;
  const auto add = [&out](std::string_view name, std::string_view value) {
    out += (out.empty() ? "{" : ",") + std::string(name) + "=\"" + escaped(value) + '"';
  };
  for (const ClientMetric::Label& label : metric.label) add(label.name, label.value);
  if (!bound.empty()) add("le", bound);
  return out.empty() ? out : out + '}';
}

class OpenMetrics {
 public:
  void family(const MetricFamily& family) {
    // A counter's family is named without the suffix that its sample has.
    name_ = family.name;
    if (family.type == MetricType::Counter && name_.ends_with(kTotal)) {
      name_.resize(name_.size() - kTotal.size());
    }
    out_ += "# TYPE " + name_ + ' ' + type(family.type) + '\n';
    for (const std::string_view unit : {"bytes", "seconds"}) {
      if (name_.ends_with('_' + std::string(unit))) {
        out_ += "# UNIT " + name_ + ' ' + std::string(unit) + '\n';
      }
    }
    out_ += "# HELP " + name_ + ' ' + escaped(family.help) + '\n';
    for (const ClientMetric& metric : family.metric) sample(family.type, metric);
  }

  std::string end() && { return std::move(out_) + "# EOF\n"; }

 private:
  static const char* type(MetricType type) {
    switch (type) {
      case MetricType::Counter: return "counter";
      case MetricType::Gauge: return "gauge";
      case MetricType::Histogram: return "histogram";
      case MetricType::Summary: return "summary";
      case MetricType::Untyped:
      default: return "unknown";
    }
  }

  void line(std::string_view suffix, const std::string& labels, double value) {
    out_ += name_ + std::string(suffix) + labels + ' ' + number(value) + '\n';
  }

  void sample(MetricType type, const ClientMetric& metric) {
    if (type == MetricType::Counter) {
      line(kTotal, labels_of(metric, {}), metric.counter.value);
    } else if (type == MetricType::Gauge) {
      line({}, labels_of(metric, {}), metric.gauge.value);
    } else if (type == MetricType::Histogram) {
      histogram(metric);
    }  // there are no others here
  }

  void histogram(const ClientMetric& metric) {
    const auto whole = static_cast<double>(metric.histogram.sample_count);
    bool has_last = false;
    for (const ClientMetric::Bucket& bucket : metric.histogram.bucket) {
      line("_bucket", labels_of(metric, number(bucket.upper_bound)),
           static_cast<double>(bucket.cumulative_count));
      has_last = std::isinf(bucket.upper_bound);
    }
    if (!has_last) line("_bucket", labels_of(metric, "+Inf"), whole);
    line("_count", labels_of(metric, {}), whole);
    line("_sum", labels_of(metric, {}), metric.histogram.sample_sum);
  }

  std::string name_;
  std::string out_;
};

bool is_refused(std::string_view parameters) {
  while (!parameters.empty()) {
    std::string_view parameter = trim(take_until(parameters, ';'));
    if (take_until(parameter, '=') != "q") continue;
    return to_double(parameter) == 0.0;
  }
  return false;
}

}  // namespace

Exposition exposition_for(std::string_view accept) {
  while (!accept.empty()) {
    std::string_view range = trim(take_until(accept, ','));
    const std::string_view type = trim(take_until(range, ';'));
    if (type == kOpenMetricsType && !is_refused(range)) return Exposition::open_metrics;
  }
  return Exposition::text;
}

std::string_view content_type(Exposition exposition) {
  return exposition == Exposition::open_metrics
             ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
             : "text/plain; version=0.0.4; charset=utf-8";
}

std::string expose(const std::vector<MetricFamily>& families, Exposition exposition) {
  std::vector<MetricFamily> kept;
  for (const MetricFamily& family : families) {
    if (!family.metric.empty()) kept.push_back(family);
  }
  if (exposition == Exposition::text) return prometheus::TextSerializer().Serialize(kept);
  OpenMetrics document;
  for (const MetricFamily& family : kept) document.family(family);
  return std::move(document).end();
}

}  // namespace plimsoll::metrics
