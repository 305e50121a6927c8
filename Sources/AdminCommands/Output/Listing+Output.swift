import MerchantKeyClient
import StrictJSON

extension Printer {
    /// A list: its pages joined to one document as JSON, or what `table` makes of its items.
    func show<Item>(_ listing: Listing<Item>, orTable table: ([Item]) -> Block) throws {
        switch form {
        case .table:
            show([table(listing.items)])
        case .json:
            var items: [JSONValue] = []
            for page in listing.pages {
                guard case .object(let object) = try Self.parse(page), case .array(let some) = object["items"] else {
                    throw CommandFailure(.refused, "merchantkeyctl: the daemon's answer holds no 'items'")
                }
                items += some
            }
            json(.object(JSONObject(members: [.init(name: "items", value: .array(items))])))
        }
    }
}
