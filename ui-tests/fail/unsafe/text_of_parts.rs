#![forbid(unsafe_code)]

use sarek::environment::Parts;

fn main() {
    let _ = Parts::new().header("checks.h");
    let _ = Parts::new().file("checks.h", "#define if(x) if (0)");
    let _ = Parts::new().include_dir("/tmp");
    let _ = Parts::new().raw_define("if(x)", "if (0)");
    let _ = Parts::new().raw_flag("-Dif(x)=if(0)");
    let _ = Parts::new().raw_library("checks");
}
