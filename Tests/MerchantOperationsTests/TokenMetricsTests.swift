import MerchantOperations
import PaymentToken
import Testing

@Suite struct TokenMetricsTests {
    @Test func `every check of a token has a label of its name`() {
        let labels = Set(TokenMetrics.Check.allCases.map(\.rawValue))
        #expect(labels.isSuperset(of: TokenVerification.CheckName.allCases.map(\.rawValue)))
        #expect(labels.isSuperset(of: TransactionCheck.Name.allCases.map(\.rawValue)))
    }
}
