/// Finds the requests to Apple's broker in the text of a device's log.
///
/// The log shows such a request as a line with `POST` and an address that contains `/broker/` and `/cards`, such as
/// `/broker/v4/devices/…/cards`, followed by the body. A log can wrap a long body over several lines, and can write the
/// date and the process before each line.
struct DeviceLog {
    private static let lineFeed = UInt8(ascii: "\n")
    private static let carriageReturn = UInt8(ascii: "\r")

    /// For each request, the text up to the next request, without the prefix that the log writes before each line. The
    /// request that was logged last comes first.
    let requests: [[UInt8]]

    init(_ text: [UInt8]) {
        let lines = text.split(separator: Self.lineFeed, omittingEmptySubsequences: false).map(Self.withoutReturn)
        let starts = lines.indices.filter { Self.isRequest(lines[$0]) }
        var requests: [[UInt8]] = []
        for (number, start) in starts.enumerated() {
            let end = number + 1 < starts.count ? starts[number + 1] : lines.endIndex
            requests.append(Self.text(of: lines[start..<end]))
        }
        self.requests = requests.reversed()
    }

    private static func withoutReturn(_ line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        line.last == carriageReturn ? line.dropLast() : line
    }

    private static func isRequest(_ line: ArraySlice<UInt8>) -> Bool {
        guard let post = line.firstRange(of: Array("POST".utf8)),
            let broker = line[post.upperBound...].firstRange(of: Array("/broker/".utf8))
        else { return false }
        return line[broker.upperBound...].firstRange(of: Array("/cards".utf8)) != nil
    }

    /// Joins the lines of one request. Removes the text before `POST` from the first line, and the same prefix from the
    /// following lines. Digits in the prefix may differ, because they are the time.
    private static func text(of lines: ArraySlice<ArraySlice<UInt8>>) -> [UInt8] {
        guard let first = lines.first, let post = first.firstRange(of: Array("POST".utf8)) else { return [] }
        let beginning = shape(first[..<post.lowerBound])
        var result = Array(first[post.lowerBound...])
        for line in lines.dropFirst() {
            let hasBeginning = !beginning.isEmpty && shape(line.prefix(beginning.count)) == beginning
            result.append(lineFeed)
            result += hasBeginning ? line.dropFirst(beginning.count) : line
        }
        return result
    }

    /// The bytes with every digit replaced by `0`.
    private static func shape(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        bytes.map { (0x30...0x39).contains($0) ? 0x30 : $0 }
    }
}
