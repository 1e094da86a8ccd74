/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Runs an artifact from C: what it wants, one row of input, every output. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

static int fail(const char *message) {
  fprintf(stderr, "embed-c: %s\n", message);
  return 1;
}

int main(int argc, char **argv) {
  tutti_error_t error;
  tutti_artifact_t *artifact;
  tutti_session_t *session;
  if (argc != 2)
    return fail("usage: embed-c FILE.tutti");
  if (tutti_artifact_open(argv[1], &artifact, &error))
    return fail(error.message);
  const tutti_info_t *info = tutti_artifact_info(artifact);
  const tutti_program_t *program = &info->programs[0];
  printf("%u members, %u launches a call\n", info->num_members, program->launches);

  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  options.threads = 2;
  if (tutti_session_create(artifact, &options, &session, &error))
    return fail(error.message);

  /* Inputs are memory of ours: the smallest batch, all 0.5. */
  void *inputs[64] = {0};
  for (uint32_t i = 0; i < program->num_inputs && i < 64; ++i) {
    const tutti_port_t *port = &program->inputs[i];
    int64_t dims[TUTTI_MAX_RANK], size = 1;
    for (int32_t d = 0; d < port->rank; ++d)
      size *= dims[d] = port->per_member && d == 0 ? info->num_members : port->dims[d].lo;
    inputs[i] = calloc((size_t)size, tutti_dtype_bits(port->dtype) / 8 + 1);
    for (int64_t k = 0; port->dtype == TUTTI_F32 && k < size; ++k)
      ((float *)inputs[i])[k] = 0.5f;
    tutti_tensor_t tensor = {port->name, port->dtype, port->rank, dims, NULL, inputs[i], TUTTI_MEMORY_HOST};
    if (tutti_session_bind_input(session, &tensor))
      return fail(tutti_session_message(session));
  }
  if (tutti_session_run(session))
    return fail(tutti_session_message(session));
  for (uint32_t i = 0; i < program->num_outputs; ++i) {
    tutti_tensor_t output;
    const tutti_port_t *port = &program->outputs[i];
    tutti_session_get_output(session, port->name, port->head, &output);
    printf("%s.%s %s [", port->name, port->head, tutti_dtype_name(output.dtype));
    for (int32_t d = 0; d < output.rank; ++d)
      printf(d ? ", %lld" : "%lld", (long long)output.dims[d]);
    printf(output.dtype == TUTTI_F32 ? "] %g ...\n" : "]\n", *(const float *)output.data);
  }
  tutti_session_destroy(session);
  tutti_artifact_close(artifact);
  for (int i = 0; i < 64; ++i)
    free(inputs[i]);
  return 0;
}
