use sarek::tag::Kind;

#[derive(Kind, PartialEq, Eq, Hash, Debug)]
#[kind(rename = "order")]
enum Order {
    Plain,
}

#[derive(Kind, PartialEq, Eq, Hash, Debug)]
#[kind(strict, strict)]
enum Twice {
    #[kind(strict)]
    Plain,
    #[kind(name = 7)]
    Other,
}

fn main() {}
