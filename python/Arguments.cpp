// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What callers give beside arrays: devices, sets of members, dicts.
#include "Arguments.h"

#include <charconv>

namespace tutti::python {

void chooseDevice(tutti_session_options_t &options, nb::handle name) {
  if (name.is_none())
    return;
  const std::string given = bytesOf(name), kind = given.substr(0, given.find(':'));
  for (auto device : {TUTTI_DEVICE_CPU, TUTTI_DEVICE_CUDA, TUTTI_DEVICE_EMULATED})
    if (kind == tutti_device_name(device))
      options.device = device;
  bool isNumbered = kind.size() < given.size();
  if (isNumbered) {
    const char *end = given.data() + given.size();
    auto [behind, error] = std::from_chars(given.data() + kind.size() + 1, end, options.ordinal);
    if (error != std::errc() || behind != end || options.device == TUTTI_DEVICE_CPU)
      options.device = TUTTI_DEVICE_DEFAULT;
  }
  if (options.device == TUTTI_DEVICE_DEFAULT)
    fail(TUTTI_NOT_FOUND, "there is no device '" + given + "'; expected 'cpu', 'cuda', 'cuda:1' ..., or 'emulated'");
}

std::vector<uint32_t> membersOf(nb::handle members) {
  auto wrong = [](const std::string &what) {
    fail(TUTTI_INVALID_ARGUMENT, "the active set " + what + ", expected a sequence of members' numbers");
  };
  // Whatever else is raised is not about numbers.
  auto isNone = [](const nb::object &made) {
    if (!made.is_valid() && !PyErr_ExceptionMatches(PyExc_TypeError))
      throw nb::python_error();
    PyErr_Clear();
    return !made.is_valid();
  };
  nb::object numbers = nb::steal(PySequence_Tuple(members.ptr()));
  if (isNone(numbers))
    wrong(std::string("is of type ") + nb::type_name(members.type()).c_str());
  // A mask is no set. A type has a text for a name, so that it is asked for once where members follow that have it.
  nb::handle last;
  auto isMask = [&](nb::handle number) {
    if (last.is(number.type()))
      return false;
    last = number.type();
    const std::string type = nb::type_name(last).c_str();
    return type == "bool" || type.starts_with("numpy.bool");
  };
  std::vector<uint32_t> set;
  set.reserve(nb::len(numbers));
  for (nb::handle number : nb::borrow<nb::tuple>(numbers)) {
    nb::object index = nb::steal(PyNumber_Index(number.ptr()));
    if (isNone(index) || isMask(number))
      wrong(std::string("has a member of type ") + nb::type_name(number.type()).c_str());
    if (!nb::try_cast(index, set.emplace_back()))
      fail(TUTTI_INVALID_ARGUMENT, "the active set has member " + nb::cast<std::string>(nb::str(index)) +
                                       ", expected numbers of members, from 0 on");
  }
  return set;
}

nb::dict dictOf(nb::handle given, const char *what, const char *values) {
  if (given.is_none())
    return {};
  if (!nb::hasattr(given, "keys"))
    fail(TUTTI_INVALID_ARGUMENT, std::string(what) + " is of type " + nb::type_name(given.type()).c_str() +
                                     ", expected a dict of " + values + " by their names");
  return nb::borrow<nb::dict>(nb::handle(reinterpret_cast<PyObject *>(&PyDict_Type))(given));
}

} // namespace tutti::python
