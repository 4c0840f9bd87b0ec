# Makes a C array of a file: cmake -DINPUT=file -DOUTPUT=file.c -DNAME=name -P embed.cmake
# The array ends with a zero byte that its length (NAME_size) does not count.
file(READ "${INPUT}" bytes HEX)
string(LENGTH "${bytes}" size)
math(EXPR size "${size} / 2")
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)"
                     "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "extern const unsigned char ${NAME}[];
extern const unsigned long ${NAME}_size;
const unsigned char ${NAME}[] = {\n${bytes}0 };
const unsigned long ${NAME}_size = ${size};\n")
