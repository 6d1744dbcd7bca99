#include "core/http/internal/server_core.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include "core/http/internal/connection.h"

namespace halogen::http {

namespace {

// Connections over the limit that may be open at once to be told 503 politely; others are just
// closed.
constexpr size_t kRefusalSlack = 64;

}  // namespace

ServerCore::ServerCore(Loop& loop, ServerOptions options, Handler handler)
    : loop_(loop), options_(std::move(options)), handler_(std::move(handler)), acceptor_(*this) {
  uv_prepare_init(uv(), &before_poll_);
  uv_idle_init(uv(), &keep_going_);
  uv_timer_init(uv(), &clock_);
  before_poll_.data = keep_going_.data = clock_.data = this;
  open_handles_ = 3;
  // So that neither accepting nor marking can fail for want of memory.
  for (auto* list : {&connections_, &dirty_, &snapshot_}) {
    list->reserve(options_.max_connections + kRefusalSlack);
  }
  uv_prepare_start(&before_poll_, [](uv_prepare_t* handle) noexcept {
    static_cast<ServerCore*>(handle->data)->serve_dirty();
  });
  uv_timer_start(
      &clock_,
      [](uv_timer_t* handle) noexcept { static_cast<ServerCore*>(handle->data)->check_times(); },
      check_interval(), check_interval());
}

// Timeouts are checked by walking all connections a few times per shortest timeout: a request then
// starts and stops no timers, and a walk over thousands of idle connections takes microseconds.
uint64_t ServerCore::check_interval() const {
  const auto shortest =
      std::min({options_.first_byte_timeout, options_.idle_timeout, options_.header_timeout,
                options_.body_timeout, options_.body_grace, options_.write_stall_timeout,
                options_.linger_timeout});
  return static_cast<uint64_t>(std::clamp<int64_t>(shortest.count() / 4, 10, 1000));
}

void ServerCore::accepted(int fd, std::string peer) noexcept {
  const bool full = connections_.size() >= options_.max_connections && !make_room();
  if (full) ++stats_.refused_connections;
  if (connections_.size() >= options_.max_connections + kRefusalSlack) {
    ::close(fd);
    return;
  }
  if (!full) ++stats_.accepted;
  try {
    Connection::open(*this, fd, std::move(peer), full);
  } catch (const std::bad_alloc&) {
    ++stats_.out_of_memory;
    ::close(fd);
  }
}

// Clients that keep connections they do not use must not keep others out. Walking all connections
// is bounded: after a walk in vain there is none until one can have become idle enough.
bool ServerCore::make_room() {
  const uint64_t now = uv_now(uv());
  const auto grace = static_cast<uint64_t>(options_.idle_grace.count());
  if (now < no_room_until_) return false;
  Connection* oldest = nullptr;
  for (Connection* connection : connections_) {
    const uint64_t since = connection->idle_since();
    if (since != 0 && (oldest == nullptr || since < oldest->idle_since())) oldest = connection;
  }
  const uint64_t free_at = (oldest == nullptr ? now : oldest->idle_since()) + grace;
  if (oldest == nullptr || free_at > now) {
    no_room_until_ = std::max(free_at, now + 1);
    return false;
  }
  ++stats_.evictions;
  oldest->close();
  return true;
}

void ServerCore::add(Connection* connection) {
  handle_opened();
  connection->index = connections_.size();
  connections_.push_back(connection);
  connection->late = draining_;
  if (draining_) ++late_;
}

void ServerCore::remove(Connection* connection) {
  Connection* last = connections_.back();
  connections_[connection->index] = last;
  last->index = connection->index;
  connections_.pop_back();
  connection->index = Connection::kNowhere;
  if (connection->late) --late_;
  if (connection->dirty_index != Connection::kNowhere) {
    dirty_[std::exchange(connection->dirty_index, Connection::kNowhere)] = nullptr;
  }
  go_on_draining();
}

void ServerCore::mark_dirty(Connection* connection) {
  if (connection->closing() || connection->dirty_index != Connection::kNowhere) return;
  connection->dirty_index = dirty_.size();
  dirty_.push_back(connection);
}

void ServerCore::serve_dirty() {
  // Those that become dirty meanwhile wait for the next round, so that a fast stream cannot keep
  // the loop from reading.
  const size_t count = dirty_.size();
  for (size_t i = 0; i < count; ++i) {
    Connection* connection = std::exchange(dirty_[i], nullptr);
    if (connection == nullptr) continue;
    connection->dirty_index = Connection::kNowhere;
    connection->serve();
  }
  dirty_.erase(dirty_.begin(), dirty_.begin() + static_cast<std::ptrdiff_t>(count));
  for (size_t i = 0; i < dirty_.size(); ++i) {
    if (dirty_[i] != nullptr) dirty_[i]->dirty_index = i;
  }
  if (shut_down_) return;
  if (dirty_.empty()) {
    uv_idle_stop(&keep_going_);
  } else {
    uv_idle_start(&keep_going_, [](uv_idle_t*) noexcept {});
  }
}

void ServerCore::check_times() {
  const uint64_t now = uv_now(uv());
  acceptor_.check_time(now);
  snapshot_ = connections_;
  for (Connection* connection : snapshot_) {
    if (!connection->closing()) connection->check_time(now);
  }
}

void ServerCore::drain(std::function<void()> done) {
  draining_ = true;
  drained_.push_back(std::move(done));
  close_idle();
  go_on_draining();
}

void ServerCore::close_idle() {
  const std::vector<Connection*> all = connections_;
  for (Connection* connection : all) {
    if (!connection->closing()) connection->drain();
  }
}

void ServerCore::go_on_draining() {
  if (!draining_ || connections_.size() > late_) return;
  if (acceptor_.open()) {
    acceptor_.close();
    close_idle();  // comes back here for each
  }
  if (!connections_.empty()) return;
  for (auto& done : std::exchange(drained_, {})) loop_.post(std::move(done));
}

void ServerCore::shut_down() {
  shut_down_ = true;
  draining_ = false;
  drained_.clear();
  acceptor_.close();
  const std::vector<Connection*> all = connections_;
  for (Connection* connection : all) connection->close();
  const uv_close_cb closed = [](uv_handle_t* handle) noexcept {
    static_cast<ServerCore*>(handle->data)->handle_closed();
  };
  uv_close(reinterpret_cast<uv_handle_t*>(&before_poll_), closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&keep_going_), closed);
  uv_close(reinterpret_cast<uv_handle_t*>(&clock_), closed);
}

void ServerCore::handle_closed() {
  if (--open_handles_ == 0 && shut_down_) delete this;
}

ServerStats ServerCore::stats_now() const {
  ServerStats stats = stats_;
  stats.connections = connections_.size();
  return stats;
}

void ServerCore::log(std::string_view message) const {
  if (options_.log) options_.log(message);
}

// Source: RFC 9110 section 5.6.7. Not strftime(), whose names follow the locale.
std::string_view ServerCore::date() {
  static constexpr std::array<const char*, 7> kDays = {"Sun", "Mon", "Tue", "Wed",
                                                       "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                          "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (const std::time_t now = std::time(nullptr); now != date_time_) {
    std::tm utc{};
    ::gmtime_r(&now, &utc);
    const int size =
        std::snprintf(date_text_.data(), date_text_.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                      kDays[utc.tm_wday], utc.tm_mday, kMonths[utc.tm_mon], utc.tm_year + 1900,
                      utc.tm_hour, utc.tm_min, utc.tm_sec);
    date_size_ = std::min(static_cast<size_t>(std::max(size, 0)), date_text_.size() - 1);
    date_time_ = now;
  }
  return {date_text_.data(), date_size_};
}

}  // namespace halogen::http
