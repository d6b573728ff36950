#include "analysis/trace/formats.h"
#include "analysis/trace/proto_writer.h"
#include "analysis/words.h"

namespace plimsoll::analysis {
namespace {

// The numbers of fields, by message, and values of enums, as Perfetto's .proto files have them.
namespace field {
constexpr std::uint32_t kTracePacket = 1;
constexpr std::uint32_t kPacketTimestamp = 8, kPacketSequence = 10, kPacketEvent = 11,
                        kPacketTrack = 60;
constexpr std::uint32_t kTrackUuid = 1, kTrackName = 2, kTrackProcess = 3, kTrackParent = 5,
                        kTrackCounter = 8, kTrackChildOrdering = 11, kTrackRank = 12;
constexpr std::uint32_t kProcessPid = 1, kProcessName = 6;
constexpr std::uint32_t kCounterUnit = 3, kCounterUnitName = 6;
constexpr std::uint32_t kEventNote = 4, kEventType = 9, kEventTrack = 11, kEventCategory = 22,
                        kEventName = 23, kEventDouble = 44, kEventFlow = 47, kEventFlowEnd = 48;
constexpr std::uint32_t kNoteText = 6, kNoteName = 10;
}  // namespace field

enum class EventType : std::uint8_t { begin = 1, end = 2, moment = 3, counter = 4 };
constexpr std::uint64_t kUnitCount = 2, kUnitBytes = 3;
constexpr std::uint64_t kChildrenByRank = 3;
// One writer, one sequence of packets; tracks are numbered from the process's on.
constexpr std::uint64_t kSequence = 1, kProcessTrack = 1;
constexpr std::uint64_t kPid = 1;  // of no process: a name for the group of all tracks

class PerfettoWriter {
 public:
  void describe_process(const std::string& name) {
    ProtoWriter process, track;
    process.add_varint(field::kProcessPid, kPid);
    process.add_text(field::kProcessName, utf8(name));
    track.add_varint(field::kTrackUuid, kProcessTrack);
    track.add_message(field::kTrackProcess, process);
    track.add_varint(field::kTrackChildOrdering, kChildrenByRank);
    add_track(track);
  }

  // The number of a new track, in the order in which they are to be shown.
  std::uint64_t describe_lane(const std::string& name) {
    ProtoWriter track = new_track(name);
    add_track(track);
    return tracks_;
  }

  std::uint64_t describe_counter(const TraceCounter& counter) {
    ProtoWriter unit, track = new_track(counter.name);
    switch (counter.unit) {
      case TraceUnit::count: unit.add_varint(field::kCounterUnit, kUnitCount); break;
      case TraceUnit::bytes: unit.add_varint(field::kCounterUnit, kUnitBytes); break;
      case TraceUnit::cores: unit.add_text(field::kCounterUnitName, "cores"); break;
      case TraceUnit::percent: unit.add_text(field::kCounterUnitName, "%"); break;
    }
    track.add_message(field::kTrackCounter, unit);
    add_track(track);
    return tracks_;
  }

  void add_slice(std::uint64_t track, const TraceSlice& slice) {
    const bool is_moment = slice.kind == TraceSlice::Kind::moment;
    ProtoWriter event = new_event(is_moment ? EventType::moment : EventType::begin, track);
    event.add_text(field::kEventCategory, slice.category);
    event.add_text(field::kEventName, utf8(slice.name));
    for (const auto& [name, text] : slice.notes) {
      ProtoWriter note;
      note.add_text(field::kNoteText, utf8(text));
      note.add_text(field::kNoteName, name);
      event.add_message(field::kEventNote, note);
    }
    for (const std::uint64_t arrow : slice.arrows_out) event.add_fixed64(field::kEventFlow, arrow);
    for (const std::uint64_t arrow : slice.arrows_in) {
      event.add_fixed64(field::kEventFlowEnd, arrow);
    }
    add_event(slice.from, event);
    if (!is_moment) add_event(slice.to, new_event(EventType::end, track));
  }

  void add_point(std::uint64_t track, Duration at, double value) {
    ProtoWriter event = new_event(EventType::counter, track);
    event.add_double(field::kEventDouble, value);
    add_event(at, event);
  }

  [[nodiscard]] const std::string& bytes() const { return trace_.bytes(); }

 private:
  ProtoWriter new_track(const std::string& name) {
    ProtoWriter track;
    track.add_varint(field::kTrackUuid, ++tracks_);
    track.add_text(field::kTrackName, utf8(name));
    track.add_varint(field::kTrackParent, kProcessTrack);
    track.add_varint(field::kTrackRank, tracks_);
    return track;
  }

  static ProtoWriter new_event(EventType type, std::uint64_t track) {
    ProtoWriter event;
    event.add_varint(field::kEventType, static_cast<std::uint64_t>(type));
    event.add_varint(field::kEventTrack, track);
    return event;
  }

  void add_track(const ProtoWriter& track) {
    ProtoWriter packet;
    packet.add_varint(field::kPacketSequence, kSequence);
    packet.add_message(field::kPacketTrack, track);
    trace_.add_message(field::kTracePacket, packet);
  }

  void add_event(Duration at, const ProtoWriter& event) {
    ProtoWriter packet;
    packet.add_varint(field::kPacketTimestamp, static_cast<std::uint64_t>(at.count()));
    packet.add_varint(field::kPacketSequence, kSequence);
    packet.add_message(field::kPacketEvent, event);
    trace_.add_message(field::kTracePacket, packet);
  }

  ProtoWriter trace_;
  std::uint64_t tracks_ = kProcessTrack;
};

}  // namespace

std::string perfetto_trace(const Trace& trace) {
  PerfettoWriter writer;
  writer.describe_process(trace.name);
  // What is stacked on the lanes in a viewer is read with them: counters come first.
  for (const TraceCounter& counter : trace.counters) {
    const std::uint64_t track = writer.describe_counter(counter);
    for (const auto& [at, value] : counter.points) writer.add_point(track, at, value);
  }
  for (const TraceLane& lane : trace.lanes) {
    const std::uint64_t track = writer.describe_lane(lane.name);
    for (const TraceSlice& slice : lane.slices) writer.add_slice(track, slice);
  }
  return writer.bytes();
}

}  // namespace plimsoll::analysis
