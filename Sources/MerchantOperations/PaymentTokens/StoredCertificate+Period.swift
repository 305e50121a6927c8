import MerchantCore
import Vocabulary

extension Collection where Element == StoredCertificate {
    /// The period that contains `time`, and in which `certificate` is the key pair's certificate in use.
    ///
    /// - Parameter certificate: the certificate in use at `time`.
    func period(inUse certificate: StoredCertificate, around time: Timestamp) -> Range<Timestamp> {
        // A certificate is valid until its `notAfter`, inclusive.
        let changes = flatMap { [$0.notBefore, $0.notAfter.adding(.milliseconds(1))] }
        let start = changes.filter {
            $0 <= time && certificateInUse(at: $0.adding(.milliseconds(-1))) != certificate
        }.max()
        let end = changes.filter { $0 > time && certificateInUse(at: $0) != certificate }.min()
        return (start ?? Timestamp(millisecondsSince1970: .min))..<(end ?? Timestamp(millisecondsSince1970: .max))
    }
}
