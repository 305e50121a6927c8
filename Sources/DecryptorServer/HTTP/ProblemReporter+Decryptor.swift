import HTTPKit
import MerchantCore
import NIOCore
import NIOHTTP1
import PaymentToken
import ServerKit

extension ProblemReporter {
    /// The problem document of an error, encoded for the wire.
    func encodedResponse(
        to error: any Error, requestId: String = RequestId.make(), trace: TraceContext? = nil
    ) -> EncodedResponse {
        // Here a PaymentTokenError comes only from parsing a token. Use cases convert the errors of all later steps.
        let error = (error as? PaymentTokenError).map { MerchantError(.tokenMalformed, $0.detail) } ?? error
        return EncodedResponse(response(to: error, requestId: requestId, metadata: trace?.logMetadata ?? [:]))
    }
}

extension EncodedResponse {
    fileprivate convenience init(_ problem: ProblemResponse) {
        self.init(
            HTTPResponseStatus(statusCode: problem.status), fields: problem.fields,
            bodyCapacity: problem.body.readableBytes
        ) { $0.writeImmutableBuffer(problem.body) }
    }
}
