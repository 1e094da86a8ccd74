// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What programs that were compiled against an older 0.1 take for granted: where members of tutti.h's structures lie,
// the values of its enumerations, and options as the first version had them.
#include "Fixture.h"

#include <cstddef>

using namespace tutti::rt::test;

#define TUTTI_AT(type, member, offset) static_assert(offsetof(type, member) == offset)

static_assert(sizeof(tutti_error_t) == 1024 && sizeof(tutti_dim_t) == 24 && sizeof(tutti_port_t) == 40 &&
              sizeof(tutti_dimension_t) == 24 && sizeof(tutti_program_t) == 104 && sizeof(tutti_member_t) == 32 &&
              sizeof(tutti_weight_t) == 40 && sizeof(tutti_info_t) == 96 && sizeof(tutti_tensor_t) == 48 &&
              sizeof(tutti_session_options_t) == 56 && sizeof(tutti_device_info_t) == 32);
TUTTI_AT(tutti_error_t, message, 4);
TUTTI_AT(tutti_dim_t, lo, 8);
TUTTI_AT(tutti_dim_t, hi, 16);
TUTTI_AT(tutti_port_t, head, 8);
TUTTI_AT(tutti_port_t, dtype, 16);
TUTTI_AT(tutti_port_t, rank, 20);
TUTTI_AT(tutti_port_t, dims, 24);
TUTTI_AT(tutti_port_t, per_member, 32);
TUTTI_AT(tutti_dimension_t, lo, 8);
TUTTI_AT(tutti_dimension_t, hi, 16);
TUTTI_AT(tutti_program_t, precision, 8);
TUTTI_AT(tutti_program_t, num_targets, 16);
TUTTI_AT(tutti_program_t, targets, 24);
TUTTI_AT(tutti_program_t, num_dimensions, 32);
TUTTI_AT(tutti_program_t, dimensions, 40);
TUTTI_AT(tutti_program_t, num_inputs, 48);
TUTTI_AT(tutti_program_t, inputs, 56);
TUTTI_AT(tutti_program_t, num_outputs, 64);
TUTTI_AT(tutti_program_t, outputs, 72);
TUTTI_AT(tutti_program_t, arena_bytes, 80);
TUTTI_AT(tutti_program_t, state_bytes, 88);
TUTTI_AT(tutti_program_t, launches, 96);
TUTTI_AT(tutti_program_t, device, 100);
TUTTI_AT(tutti_member_t, group, 8);
TUTTI_AT(tutti_member_t, source, 16);
TUTTI_AT(tutti_member_t, digest, 24);
TUTTI_AT(tutti_weight_t, dtype, 8);
TUTTI_AT(tutti_weight_t, rank, 12);
TUTTI_AT(tutti_weight_t, dims, 16);
TUTTI_AT(tutti_weight_t, bytes, 24);
TUTTI_AT(tutti_weight_t, group, 32);
TUTTI_AT(tutti_weight_t, shared, 36);
TUTTI_AT(tutti_weight_t, swappable, 37);
TUTTI_AT(tutti_info_t, compiler, 8);
TUTTI_AT(tutti_info_t, share, 16);
TUTTI_AT(tutti_info_t, num_members, 24);
TUTTI_AT(tutti_info_t, members, 32);
TUTTI_AT(tutti_info_t, num_programs, 40);
TUTTI_AT(tutti_info_t, programs, 48);
TUTTI_AT(tutti_info_t, num_weights, 56);
TUTTI_AT(tutti_info_t, weights, 64);
TUTTI_AT(tutti_info_t, file_bytes, 72);
TUTTI_AT(tutti_info_t, metadata, 80);
TUTTI_AT(tutti_info_t, metadata_bytes, 88);
TUTTI_AT(tutti_tensor_t, dtype, 8);
TUTTI_AT(tutti_tensor_t, rank, 12);
TUTTI_AT(tutti_tensor_t, dims, 16);
TUTTI_AT(tutti_tensor_t, strides, 24);
TUTTI_AT(tutti_tensor_t, data, 32);
TUTTI_AT(tutti_tensor_t, memory, 40);
TUTTI_AT(tutti_session_options_t, threads, 8);
TUTTI_AT(tutti_session_options_t, program, 12);
TUTTI_AT(tutti_session_options_t, verify_weights, 16);
TUTTI_AT(tutti_session_options_t, target, 24);
TUTTI_AT(tutti_session_options_t, device, 32);
TUTTI_AT(tutti_session_options_t, ordinal, 36);
TUTTI_AT(tutti_session_options_t, context, 40);
TUTTI_AT(tutti_session_options_t, stream, 48);
TUTTI_AT(tutti_device_info_t, device, 8);
TUTTI_AT(tutti_device_info_t, ordinal, 12);
TUTTI_AT(tutti_device_info_t, flops_per_second, 16);
TUTTI_AT(tutti_device_info_t, bytes_per_second, 24);
static_assert(TUTTI_OK == 0 && TUTTI_F32 == 22 && TUTTI_F64 == 23 && TUTTI_COMPLEX128 == 26);

TEST(Abi, optionsOfTheFirstVersion) {
  Fixture f;
  constexpr size_t first = offsetof(tutti_session_options_t, context);
  alignas(tutti_session_options_t) unsigned char bytes[sizeof(tutti_session_options_t)];
  std::memset(bytes, 0xff, sizeof(bytes)); // nobody reads what lies behind them
  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  options.struct_size = first;
  std::memcpy(bytes, &options, first);
  tutti_error_t error;
  auto *older = reinterpret_cast<tutti_session_options_t *>(bytes);
  ASSERT_EQ(tutti_artifact_choose_device(f.artifact.get(), older, &error), TUTTI_OK) << error.message;
  EXPECT_EQ(older->device, TUTTI_DEVICE_CPU);
  for (size_t i = first; i < sizeof(bytes); ++i)
    EXPECT_EQ(bytes[i], 0xff) << i; // nor writes there
  tutti_session_t *session = nullptr;
  ASSERT_EQ(tutti_session_create(f.artifact.get(), older, &session, &error), TUTTI_OK) << error.message;
  tutti_session_destroy(session);
}

TEST(Abi, versionsAndNames) {
  EXPECT_EQ(tutti_version(), uint32_t(TUTTI_VERSION_MAJOR * 10000 + TUTTI_VERSION_MINOR * 100 + TUTTI_VERSION_PATCH));
  EXPECT_EQ(tutti_format_version(), 7u);
  EXPECT_STREQ(tutti_status_name(TUTTI_OK), "ok");
  EXPECT_STREQ(tutti_status_name(TUTTI_SHAPE_MISMATCH), "shape mismatch");
  EXPECT_STREQ(tutti_status_name(TUTTI_BUSY), "session busy");
  EXPECT_STREQ(tutti_device_name(TUTTI_DEVICE_DEFAULT), "default");
  EXPECT_STREQ(tutti_device_name(TUTTI_DEVICE_CPU), "cpu");
  EXPECT_STREQ(tutti_device_name(TUTTI_DEVICE_CUDA), "cuda");
  EXPECT_STREQ(tutti_device_name(TUTTI_DEVICE_EMULATED), "emulated");
  auto *nameOfAny = reinterpret_cast<const char *(*)(uint32_t)>(tutti_device_name); // C lets it be any number
  EXPECT_STREQ(nameOfAny(4), "unknown device");
}
