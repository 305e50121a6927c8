import StrictJSON
import Vocabulary

/// Finds the provisioning values in the text that a user gives: JSON, or a device's log.
struct InspectedText {
    /// The maximum length in bytes. It is far above the length of real JSON, so usually only a log exceeds it.
    static let longest = 16 * 1_048_576
    private static let limits = JSONLimits(bytes: 1_048_576, depth: 16, values: 65_536)
    /// How many opening braces of a request are tried at most. At each, the parser tries to read an object.
    private static let mostObjects = 64

    private(set) var source = InspectedValues.Source.json
    private(set) var requestCount = 0
    private(set) var values: [InspectedName: JSONValue] = [:]
    /// The names whose values are incomplete in the text. These values are not decoded.
    private(set) var truncated: Set<InspectedName> = []
    private(set) var findings: [PassDataFinding] = []

    init(_ bytes: [UInt8]) {
        guard bytes.count <= Self.longest else {
            add(.textTooLong, "the text has \(bytes.count) bytes, expected at most \(Self.longest)")
            return
        }
        read(Self.utf8(bytes))
        if values.isEmpty && findings.isEmpty {
            add(.noValuesFound, "the text contains no value of in-app provisioning")
        }
    }

    private mutating func add(_ kind: PassDataFinding.Kind, value: InspectedName? = nil, _ message: String) {
        findings.append(PassDataFinding(kind, value: value, message))
    }

    /// Removes a byte order mark, and converts UTF-16, in which some editors save logs.
    private static func utf8(_ bytes: [UInt8]) -> [UInt8] {
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(bytes.dropFirst(3)) }
        let isLittleEndian = bytes.starts(with: [0xFF, 0xFE])
        guard isLittleEndian || bytes.starts(with: [0xFE, 0xFF]) else { return bytes }
        var units: [UInt16] = []
        for index in stride(from: 2, to: bytes.count - 1, by: 2) {
            let (first, second) = (UInt16(bytes[index]), UInt16(bytes[index + 1]))
            units.append(isLittleEndian ? second << 8 | first : first << 8 | second)
        }
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }

    private mutating func read(_ text: [UInt8]) {
        let start = text.firstIndex { $0 != 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D } ?? 0
        switch start < text.count ? text[start] : 0 {
        case UInt8(ascii: "{"): readJSON(text, from: start)
        case UInt8(ascii: "\""): readJSONInString(text)
        default: readLog(text)
        }
    }

    // MARK: - JSON

    private mutating func readJSON(_ text: [UInt8], from start: Int) {
        let object = WrappedJSON(text, from: start)
        do throws(JSONFault) {
            let value = try JSONParser.parse(object.bytes, limits: Self.limits)
            if object.isWrapped { addWrapped() }
            take(value)
        } catch {
            addFault(error, isTruncated: object.isTruncated)
            scanNames(text)
        }
    }

    private mutating func addFault(_ fault: JSONFault, isTruncated: Bool) {
        if fault.description.hasSuffix("twice, expected each name once") {
            add(.duplicateName, "a name occurs twice in the JSON object")
        } else if isTruncated {
            add(.truncatedText, "the text ends inside the JSON object")
        } else {
            add(.invalidJSON, "the text is not valid JSON: \(fault.description)")
        }
    }

    private mutating func addWrapped() {
        add(.whitespace, "strings of the JSON contain line breaks, as when a log wraps its lines")
    }

    private mutating func readJSONInString(_ text: [UInt8]) {
        guard let value = try? JSONParser.parse(text, limits: Self.limits), case .string(let inner) = value else {
            readLog(text)
            return
        }
        add(.jsonInString, "the text is a JSON string, expected an object")
        let bytes = Array(inner.utf8)
        if let start = bytes.firstIndex(of: UInt8(ascii: "{")) { readJSON(bytes, from: start) }
    }

    /// Takes the provisioning values of the first object that has any, at any depth.
    ///
    /// - Returns: false if there is no such object.
    @discardableResult
    private mutating func take(_ value: JSONValue) -> Bool {
        switch value {
        case .object(let object):
            var isTaken = false
            for member in object.members {
                guard let meaning = InspectedName.meaning(of: member.name), isEvidence(meaning.value, in: object) else {
                    continue
                }
                isTaken = true
                if !meaning.isExact {
                    let expected = meaning.value.rawValue
                    add(.wrongName, value: meaning.value, "a value has another name than '\(expected)'")
                }
                if values[meaning.value] == nil { values[meaning.value] = member.value }
            }
            if isTaken { return true }
            for member in object.members where take(member.value) { return true }
            return false
        case .array(let items):
            for item in items where take(item) { return true }
            return false
        case .null, .bool, .number, .string: return false
        }
    }

    /// Common words such as `card` or `network` are recognized only in an object that also has one of PassKit's names.
    private func isEvidence(_ name: InspectedName, in object: JSONObject) -> Bool {
        if name.isSpecific { return true }
        return object.members.contains { InspectedName.meaning(of: $0.name)?.value.isSpecific == true }
    }

    // MARK: - Logs

    private mutating func readLog(_ text: [UInt8]) {
        source = .deviceLog
        let log = DeviceLog(text)
        requestCount = log.requests.count
        for request in log.requests where values.isEmpty { readRequest(request) }
        if values.isEmpty && log.requests.isEmpty { readRequest(text) }
    }

    private mutating func readRequest(_ request: [UInt8]) {
        if readObjects(request) { return }
        let unescaped = Self.unescaped(request)
        if unescaped.count < request.count, readObjects(unescaped) { return }
        scanNames(request)
    }

    /// Takes the values of the first object with provisioning values. Returns false if there is none.
    private mutating func readObjects(_ text: [UInt8]) -> Bool {
        var index = 0
        for _ in 1...Self.mostObjects {
            guard let start = text[index...].firstIndex(of: UInt8(ascii: "{")) else { return false }
            let object = WrappedJSON(text, from: start)
            if !object.isTruncated, let value = try? JSONParser.parse(object.bytes, limits: Self.limits), take(value) {
                if object.isWrapped { addWrapped() }
                return true
            }
            index = start + 1
        }
        return false
    }

    /// Removes one level of escaping, for bodies that a log shows as a quoted string.
    private static func unescaped(_ text: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        var index = 0
        while index < text.count {
            if text[index] == UInt8(ascii: "\\"), index + 1 < text.count {
                index += 1
                let isLineBreak = text[index] == UInt8(ascii: "n") || text[index] == UInt8(ascii: "r")
                if !isLineBreak { result.append(text[index]) }
            } else {
                result.append(text[index])
            }
            index += 1
        }
        return result
    }

    private mutating func scanNames(_ text: [UInt8]) {
        let scan = NamedValueScan(text)
        for name in InspectedName.allCases {
            guard let value = scan.values[name] else { continue }
            values[name] = .string(value)
            if scan.truncated.contains(name) {
                truncated.insert(name)
                add(.truncatedValue, value: name, "the text ends inside of '\(name.rawValue)'")
            }
        }
    }
}
