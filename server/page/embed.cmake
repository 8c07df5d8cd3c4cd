# Writes OUT, a source with the texts of the files PAGE and ROUTES in it:
#   cmake -DPAGE=page.html -DROUTES=openapi.json -DOUT=page_files.cc -P embed.cmake
file(READ ${PAGE} page)
file(READ ${ROUTES} routes)
file(WRITE ${OUT} "#include \"server/page/page_files.h\"

namespace mpsd {

const absl::string_view kPageFile = R\"page(${page})page\";
const absl::string_view kRoutesFile = R\"routes(${routes})routes\";

}  // namespace mpsd
")
