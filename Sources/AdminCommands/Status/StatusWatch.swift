import MerchantKeyClient
import StrictJSON
import Vocabulary
import WireAPI

/// `status --watch`: shows the status again and again until the program is stopped.
struct StatusWatch {
    private let admin: AdminClient
    private let printer: Printer
    private let secondsPerResponse: Int

    init(_ admin: AdminClient, _ printer: Printer, within secondsPerResponse: Int) {
        self.admin = admin
        self.printer = printer
        self.secondsPerResponse = secondsPerResponse
    }

    /// - Throws: an error if the first request fails, or if a later request fails with an error that is not temporary.
    ///   After a temporary error (``ClientError/isTemporary``), the request is repeated after the interval.
    func run(every interval: Duration) async throws {
        try show(try await admin.status(within: secondsPerResponse))
        var isFailing = false
        while true {
            try await Task.sleep(for: interval)
            do {
                let status = try await admin.status(within: secondsPerResponse)
                if isFailing { printer.note("the daemon responds again") }
                isFailing = false
                try show(status)
            } catch let error as ClientError where error.isTemporary {
                if !isFailing { printer.note("\(error); retrying") }
                isFailing = true
            }
        }
    }

    private func show(_ status: Response<StatusDocument>) throws {
        switch printer.format {
        case .table:
            // ECMA-48: move to the first line, and erase the screen from there on.
            if StandardStream.output.isTerminal { StandardStream.output.write("\u{1B}[H\u{1B}[J") }
            printer.show(status.document.blocks)
        case .json: printer.line(JSONText.compact(try Printer.parse(status.json)))
        }
    }
}
