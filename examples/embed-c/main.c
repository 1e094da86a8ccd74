/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Runs an artifact from C: what it wants, the smallest batch of input, every output. */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/tutti.h>

/* What failed is said, and its class is the exit code, as of the tools. Without a session the message is in `error`. */
static void check(tutti_status_t status, const tutti_session_t *session, const tutti_error_t *error) {
  if (!status)
    return;
  fprintf(stderr, "embed-c: %s\n", session ? tutti_session_message(session) : error->message);
  exit(status >> 8);
}

int main(int argc, char **argv) {
  tutti_error_t error = {TUTTI_INVALID_ARGUMENT, "usage: embed-c FILE.tutti"};
  tutti_artifact_t *artifact;
  tutti_session_t *session;
  check(argc == 2 ? TUTTI_OK : error.status, NULL, &error);
  check(tutti_artifact_open(argv[1], &artifact, &error), NULL, &error);
  const tutti_info_t *info = tutti_artifact_info(artifact);
  const tutti_program_t *program = &info->programs[0];
  printf("%u members, %u launches a call\n", info->num_members, program->launches);

  tutti_session_options_t options = TUTTI_SESSION_OPTIONS_INIT;
  options.threads = 2;
  check(tutti_session_create(artifact, &options, &session, &error), NULL, &error);

  /* Inputs are memory of ours, alive as long as it is bound: all 0.5. */
  void **inputs = calloc(program->num_inputs + 1, sizeof(void *));
  for (uint32_t i = 0; i < program->num_inputs; ++i) {
    const tutti_port_t *port = &program->inputs[i];
    int64_t dims[TUTTI_MAX_RANK], size = 1;
    for (int32_t d = 0; d < port->rank; ++d)
      size *= dims[d] = port->per_member && d == 0 ? info->num_members : port->dims[d].lo;
    inputs[i] = calloc((size_t)size, tutti_dtype_bits(port->dtype) / 8 + 1);
    for (int64_t k = 0; port->dtype == TUTTI_F32 && k < size; ++k)
      ((float *)inputs[i])[k] = 0.5f;
    tutti_tensor_t tensor = {port->name, port->dtype, port->rank, dims, NULL, inputs[i], TUTTI_MEMORY_HOST};
    check(tutti_session_bind_input(session, &tensor), session, NULL);
  }
  check(tutti_session_run(session), session, NULL);
  for (uint32_t i = 0; i < program->num_outputs; ++i) {
    tutti_tensor_t output;
    const tutti_port_t *port = &program->outputs[i];
    check(tutti_session_get_output(session, port->name, port->head, &output), session, NULL);
    printf("%s.%s %s [", port->name, port->head, tutti_dtype_name(output.dtype));
    for (int32_t d = 0; d < output.rank; ++d)
      printf(d ? ", %lld" : "%lld", (long long)output.dims[d]);
    const float *first = output.dtype == TUTTI_F32 ? output.data : NULL;
    printf(first ? "] %g ...\n" : "]\n", first ? *first : 0.0);
  }
  tutti_session_destroy(session);
  for (uint32_t i = 0; i < program->num_inputs; ++i)
    free(inputs[i]);
  free(inputs);
  tutti_artifact_close(artifact); /* with what `program` points at */
}
