//! Layouts: arrays in an array, coordinates of a linear id, and elements that change places.

use super::Form;

pub(super) const FORMS: &[Form] = &[
    Form {
        name: "structure of arrays",
        options: "",
        body: "if i ‹<¦<=› ‹n¦w› { y[i] = $V; y[n + i] = $V; y[2 * n + i‹¦ + 1›] = $V; }",
    },
    Form {
        name: "structure of arrays in a loop",
        options: "",
        body: "‹if i < n¦if i <= n¦if n > 0› { for k in 0..$K { y[k * ‹n¦(n + 1)¦(n - 1)› + i] = $V; } }",
    },
    Form {
        name: "planes",
        options: "",
        body: "‹if c < w && r < h¦if c < w && r <= h¦if c <= w && r < h¦if r < h› { for p in 0..$K { y[p * w * h + r * ‹w¦h› + c] = $V; } }",
    },
    Form {
        name: "rows and columns",
        options: "",
        body: "if c ‹<¦<=› w && r < h { y[‹«r * w + c¦c * h + r»¦r * h + c¦r * w + r›] = $V; }",
    },
    Form {
        name: "pitch",
        options: "‹requires(w <= m)¦›",
        body: "if c < w { y[r * m + c] = $V; }",
    },
    Form {
        name: "coordinates put together again",
        options: "",
        body: "let (q, p) = (i / w, i % ‹w¦h›); y[q * ‹w¦h¦(w - 1)› + p] = $V;",
    },
    Form {
        name: "coordinates transposed",
        options: "",
        body: "let (q, p) = (i / w, i % w); ‹if q < h¦if q <= h¦if p < h› { y[p * h + q] = $V; }",
    },
    Form {
        name: "three coordinates put together again",
        options: "",
        body: "let (q, rest) = (i / (w * h), i % (w * h)); y[q * w * h + rest / w * ‹w¦h› + rest % ‹w¦h›] = $V;",
    },
    Form {
        name: "groups turned about",
        options: "",
        body: "y[i / $B * $B + ‹$B - 1¦$B - 2¦$B› - i % ‹$B¦$H›] = $V;",
    },
    Form {
        name: "one thread of several",
        options: "",
        body: "if i % ‹«4¦32¦$B»¦3¦2› == 0 { y[i / «4¦32¦$B»] = $V; }",
    },
    Form {
        name: "transposition in place",
        options: "",
        body: "if r < n && c ‹<¦<=¦!=› r { «y.swap(r * n + c, c * n + r);¦let a = y[r * n + c]; let b = y[c * n + r]; y[r * n + c] = b; y[c * n + r] = a;» }",
    },
    Form {
        name: "reversal in place",
        options: "",
        body: "if i < ‹«n / 2¦n - n / 2»¦n¦n / 2 + 1› { «y.swap(i, n - 1 - i);¦let a = y[i]; y[i] = y[n - 1 - i]; y[n - 1 - i] = a;» }",
    },
    Form {
        name: "rows that change places",
        options: "",
        body: "‹if c < w¦if c <= w¦if w > 0› { y.swap(m * w + c, h * w + c); }",
    },
    Form {
        name: "pairs of columns",
        options: "",
        body: "if r < h && 2 * c ‹+ 1 < w¦< w¦<= w› { y[r * w + 2 * c] = $V; y[r * w + 2 * c + ‹1¦2›] = $V; }",
    },
    Form {
        name: "red and black",
        options: "",
        body: "if c > 0 && c + 1 < w && r < h && (r + c) % ‹2¦3¦1› == ‹m % 2¦c % 2› { y[r * w + c] = y[r * w + c - 1] + y[r * w + c + 1]; }",
    },
    Form {
        name: "ring",
        options: "",
        body: "if i ‹<¦<=› ‹n¦m› { y[(i + m) % ‹n¦w›] = $V; }",
    },
    Form {
        name: "guards for the ends",
        options: "",
        body: "if i == 0 { y[0] = $V; } else if i == n - 1 { y[‹n - 1¦n - 2›] = $V; } else if i < n { y[‹i¦i - 1›] = $V; }",
    },
    Form {
        name: "single writer",
        options: "",
        body: "«if global_thread_id() == 0¦if i == n && r == 0¦if i == 0 && r == 0» { for k in 0..n { y[k] = $V; } } ‹¦y[0] = 1;›",
    },
    Form {
        name: "writer of a block",
        options: "",
        body: "if ‹t == 0¦t < 2¦t == m› { y[‹block_idx_x()¦block_idx_x() / 2¦0›] = $V; }",
    },
    Form {
        name: "triangle",
        options: "",
        body: "if i < n { for j in ‹i¦0›..n { y[i * n + j] = $V; «¦y[j * n + i] = $V;» } }",
    },
    Form {
        name: "triangle in a plane",
        options: "",
        body: "if c < n && r < n && c ‹>¦>=¦!=› r { y[r * n + c] = $V; y[c * n + r] = $V; }",
    },
    Form {
        name: "elimination below a pivot",
        options: "requires(m < n)",
        body: "let (row, col) = (r + m ‹+ 1¦›, c + m ‹+ 1¦›); if row < n && col < n { y[row * n + col] -= y[row * n + m] * y[m * n + col]; }",
    },
    Form {
        name: "bins of a thread",
        options: "",
        body: "for k in 0..x.len() { y[$B * i + ‹(x[k] as usize) % $B¦(x[k] as usize) % ($B + 1)¦x[k] as usize›] += 1; }",
    },
    Form {
        name: "exclusive or with a uniform value",
        options: "",
        body: "let at = i ^ ‹«m¦1¦$B»¦t¦r¦i / 2›; «if at < n { y[at] = $V; }¦y[at] = $V;»",
    },
    Form {
        name: "exchange at a distance",
        options: "",
        body: "let j = i ^ ‹m¦t›; if j ‹>¦>=¦!=› i && j < n { «y.swap(i, j);¦if y[i] > y[j] { y.swap(i, j); }» }",
    },
    Form {
        name: "butterfly",
        options: "requires(m > 0)",
        body: "let at = i / m * (‹2¦1› * m) + i % m; if at + m < n { let a = y[at]; let b = y[at + m]; y[at] = a + b; y[at + ‹m¦1›] = a - b; }",
    },
    Form {
        name: "either half",
        options: "",
        body: "‹if i < n¦if i <= n› { let at = if x[i % x.len()] > 7 { n + i } else { ‹i¦n - 1 - i› }; y[at] = $V; }",
    },
    Form {
        name: "linear id of a plane",
        options: "",
        body: "let of_block = ‹thread_idx_y() * block_dim_x() + t¦thread_idx_y() * block_dim_y() + t¦thread_idx_y() + t›; \
               let block = ‹block_idx_y() * grid_dim_x() + block_idx_x()¦block_idx_y() + block_idx_x()›; \
               y[block * (block_dim_x() * ‹block_dim_y()¦1›) + of_block] = $V;",
    },
    Form {
        name: "global id of all threads",
        options: "",
        body: "let at = ‹global_thread_id()¦r * global_dim_x() + c¦r * global_dim_y() + c¦r + c›; y[«at¦at + m¦at * 2 + 1»] = $V;",
    },
    Form {
        name: "mirror",
        options: "",
        body: "if i < n { y[n - 1 - i‹¦ / 2›] = $V; «¦y[n + i] = $V;¦y[2 * n - 1 - i] = $V;» }",
    },
];
