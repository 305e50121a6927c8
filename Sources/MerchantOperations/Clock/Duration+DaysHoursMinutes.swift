import Vocabulary

extension Duration {
    /// The duration as text, such as `2 days 1 hour 0 minutes`. Seconds are left out.
    package var daysHoursMinutes: String {
        let minutes = components.seconds / 60
        return [
            (minutes / 1440).counted("day"), (minutes / 60 % 24).counted("hour"), (minutes % 60).counted("minute"),
        ].joined(separator: " ")
    }
}
