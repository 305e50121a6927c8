import MerchantOperations
import PaymentToken
import Testing

@Suite struct TokenMetricsTests {
    @Test func `the metrics have a label for each check of a token`() {
        let labels = Set(TokenMetrics.Check.allCases.map(\.rawValue))
        #expect(labels.isSuperset(of: TokenVerification.CheckName.allCases.map(\.rawValue)))
        #expect(labels.isSuperset(of: TransactionCheck.Name.allCases.map(\.rawValue)))
    }
}
