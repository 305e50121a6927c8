import AppleGateway
import KeyCustody
import MerchantCore
import Testing
import Vocabulary

/// Whose identity is chosen.
@Suite struct IdentityOwnerTests {
    let fixture: GatewayFixture
    let custody: CustodyFixture
    let shop: MerchantIdentifier
    let other: MerchantIdentifier

    init() throws {
        fixture = try GatewayFixture.shared.get()
        custody = try CustodyFixture(fixture)
        shop = try #require(MerchantIdentifier("merchant.com.example.shop"))
        other = try #require(MerchantIdentifier("merchant.com.example.other"))
    }

    private func failure(_ owner: IdentityOwner, at time: Timestamp = .now) -> IdentityError? {
        do throws(IdentityError) {
            _ = try custody.identities.identity(of: owner, at: time)
            return nil
        } catch { return error }
    }

    @Test func `a merchant's newest valid identity is used, never another owner's`() throws {
        let platform = try custody.add("platform", issuedBy: fixture.authority, days: -1...700)
        let old = try custody.add("old", issuedBy: fixture.authority, days: -600...100, of: shop)
        let new = try custody.add("new", issuedBy: fixture.authority, days: -20...700, of: shop)
        let identities = custody.identities
        #expect(try identities.identity(of: .platform, at: .now).publicKeyHash == platform)
        #expect(try identities.identity(of: .merchant(shop), at: .now).publicKeyHash == new)
        #expect(try identities.identity(of: .merchant(shop), at: GatewayFixture.day(-30)).publicKeyHash == old)
        custody.revoke(new)
        #expect(try identities.identity(of: .merchant(shop), at: .now).publicKeyHash == old)
        guard case .notConfigured(let why) = failure(.merchant(other)) else {
            Issue.record("\(String(describing: failure(.merchant(other))))")
            return
        }
        #expect(why.contains("key generate merchant.com.example.other --purpose identity"))
    }

    @Test func `an expired identity and one that is not valid yet are refused, and the error says what to do`() throws {
        try custody.add("own", issuedBy: fixture.authority, days: -10...10, of: shop)
        for (day, words) in [(-20, "check the machine's clock"), (20, "upload a new certificate from Apple")] {
            guard case .unusable(let why) = failure(.merchant(shop), at: GatewayFixture.day(day)) else {
                Issue.record("\(String(describing: failure(.merchant(shop), at: GatewayFixture.day(day))))")
                continue
            }
            #expect(why.contains(words) && why.contains(shop.rawValue), "\(why)")
        }
        #expect(failure(.merchant(shop)) == nil)
    }

    @Test func `files hold the platform's identity, and custody the merchants'`() throws {
        let own = try custody.add("own", issuedBy: fixture.authority, days: -1...700, of: shop)
        let files = try fixture.files("good")
        let identities = FileAndCustodyIdentities(files: files, custody: custody.identities)
        let platform = try files.identity(of: .platform, at: .now).publicKeyHash
        #expect(try identities.identity(of: .platform, at: .now).publicKeyHash == platform)
        #expect(try identities.identity(of: .merchant(shop), at: .now).publicKeyHash == own)
        #expect(throws: IdentityError.self) { try identities.identity(of: .merchant(other), at: .now) }
        #expect(throws: IdentityError.self) { try files.identity(of: .merchant(shop), at: .now) }
    }
}
