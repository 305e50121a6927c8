import MerchantKeyClient
import StrictJSON

extension Printer {
    /// Prints a list in the output format: as one JSON document with the items of all pages, or as the block that
    /// `table` returns.
    func show<Item>(_ listing: Listing<Item>, orTable table: ([Item]) -> Block) throws {
        switch form {
        case .table:
            show([table(listing.items)])
        case .json:
            var items: [JSONValue] = []
            for page in listing.pages {
                guard case .object(let object) = try Self.parse(page), case .array(let pageItems) = object["items"]
                else {
                    throw CommandFailure(.refused, "merchantkeyctl: the daemon's response has no 'items'")
                }
                items += pageItems
            }
            json(.object(JSONObject(members: [.init(name: "items", value: .array(items))])))
        }
    }
}
