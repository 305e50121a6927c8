import NIOCore

/// The answers a connection owes, in the order of the requests, whichever is known first.
struct ResponseQueue {
    /// A request's place in the order.
    struct Place: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// What a request wants of its answer's form, and the answer once it is known.
    struct Entry {
        let form: AnswerForm
        fileprivate(set) var response: Response?
    }

    private var entries = CircularBuffer<Entry>()
    /// The number of the first entry.
    private var first = 0

    var count: Int { entries.count }
    var isEmpty: Bool { entries.isEmpty }

    /// Where the next entry will be.
    var nextPlace: Place { Place(number: first + entries.count) }

    mutating func append(_ form: AnswerForm, _ response: Response? = nil) {
        entries.append(Entry(form: form, response: response))
    }

    mutating func fill(_ place: Place, with response: Response) {
        let offset = place.number - first
        precondition(entries.indices.count > offset && offset >= 0, "a place is filled once, before it is taken")
        entries[entries.index(entries.startIndex, offsetBy: offset)].response = response
    }

    /// - Returns: nil while the first answer owed is not known.
    mutating func takeFirst() -> (form: AnswerForm, response: Response)? {
        guard let entry = entries.first, let response = entry.response else { return nil }
        entries.removeFirst()
        first += 1
        return (entry.form, response)
    }

    /// Drops everything, overwriting secrets.
    mutating func removeAll() {
        for entry in entries { entry.response?.wipe() }
        first += entries.count
        entries.removeAll()
    }
}

/// What a request wants of its answer's form.
struct AnswerForm: Sendable {
    var isHead = false
    /// The last answer of its connection.
    var isLast = false
    /// An interim `100 Continue`, which is no answer yet.
    var isInterim = false
}
