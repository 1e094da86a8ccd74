/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * The C interface of the Tutti runtime: load an artifact, bind buffers, run the ensemble.
 *
 * An artifact is code: opening one checks that its code and metadata are whole (its weights, when asked to), not that
 * they are harmless. Run only what you trust.
 *
 * Rules that hold for every function
 *   - A function that can fail returns a tutti_status_t; 0 is success. Nothing throws, aborts or exits. A handle that
 *     is NULL is TUTTI_INVALID_ARGUMENT.
 *   - Strings and structures that the library returns by pointer belong to the handle they were asked from and live
 *     as long as it does; they are never NULL unless a comment says so. Strings are UTF-8,
 *     but for names out of model files, which are the bytes that stand there.
 *   - Pointers that are passed in are read during the call only, but for the data of bound tensors and of an artifact
 *     opened from memory, which have to stay valid as the comments say.
 *   - An artifact may be used by any number of threads at once. A session is used by one thread at a time; different
 *     sessions of one artifact may run at the same time on different threads. Every function of a session that can fail
 *     can return TUTTI_BUSY, TUTTI_FORKED and TUTTI_DEVICE_LOST beside the errors that its comment lists. TUTTI_BUSY
 *     writes no message: that of the session is the other thread's.
 *   - Structures keep their layout as long as the library's soname stays (libtutti.so.0.1). Only one that says its
 *     struct_size may get further members meanwhile, at its end.
 */
#ifndef TUTTI_TUTTI_H
#define TUTTI_TUTTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_VERSION_MAJOR 0
#define TUTTI_VERSION_MINOR 1
#define TUTTI_VERSION_PATCH 0
/** A tensor has at most this many dimensions. */
#define TUTTI_MAX_RANK 16

#define TUTTI_API __attribute__((visibility("default")))

/** What a call came to. status >> 8 is the class, which is the exit code of the tools. */
typedef enum tutti_status {
  TUTTI_OK = 0,
  /* 2, usage: the caller's arguments do not fit */
  TUTTI_INVALID_ARGUMENT = 0x0200,
  TUTTI_NOT_FOUND = 0x0201,      /**< no file, port, dimension, head, weight or program of that name or number */
  TUTTI_SHAPE_MISMATCH = 0x0202, /**< rank, dims or strides */
  TUTTI_DTYPE_MISMATCH = 0x0203,
  TUTTI_NOT_BOUND = 0x0204,     /**< an input without data, or a dimension without a value */
  TUTTI_SHARED_WEIGHT = 0x0205, /**< one member's copy of a weight that is stored once for all */
  TUTTI_BUSY = 0x0206,          /**< two threads used one session at once */
  TUTTI_FORKED = 0x0207,        /**< used in a child of fork(): a session from before, an artifact that
                                     was being changed, or a CUDA driver that had begun */
  /* 3, the file is damaged */
  TUTTI_TRUNCATED = 0x0300,
  TUTTI_DIGEST_MISMATCH = 0x0301,
  TUTTI_MALFORMED = 0x0302,
  /* 4, the file is sound but needs what this runtime has not */
  TUTTI_NEWER_FORMAT = 0x0400,
  TUTTI_UNSUPPORTED = 0x0401,
  /* 5, device */
  TUTTI_NO_DEVICE = 0x0500, /**< no such device or driver, or none that the artifact has code for */
  TUTTI_DRIVER_TOO_OLD = 0x0501,
  TUTTI_DEVICE_LOST = 0x0502,  /**< the device, or what ran on it, failed for good: the session is of no use any more */
  TUTTI_DRIVER_ERROR = 0x0503, /**< any other error of the driver's; the message has its name */
  /* 6, resources */
  TUTTI_OUT_OF_MEMORY = 0x0600,
  TUTTI_IO_ERROR = 0x0601,
  /* 70 */
  TUTTI_INTERNAL = 0x4600
} tutti_status_t;

/** Where a session runs. */
typedef enum tutti_device {
  TUTTI_DEVICE_DEFAULT, /**< of a session, what its program was compiled for; where a device is chosen, the first of
                           CUDA, CPU that can run the artifact */
  TUTTI_DEVICE_CPU,
  TUTTI_DEVICE_CUDA,
  TUTTI_DEVICE_EMULATED /**< CUDA programs on the CPU, by the library that the variable TUTTI_CUDA_DRIVER names: for
                           tests */
} tutti_device_t;

/** Where a tensor's data lies. */
typedef enum tutti_memory {
  TUTTI_MEMORY_HOST,
  TUTTI_MEMORY_DEVICE /**< of the session's CUDA device; the address is a multiple of 16 */
} tutti_memory_t;

/** Element types; the numbers are those of the artifact. Elements below a byte are packed, the first in the lowest
 * bits; a bool is a byte, 0 or 1. Inputs and outputs have no TUTTI_STRING, TUTTI_COMPLEX64 or TUTTI_COMPLEX128 yet. */
typedef enum tutti_dtype {
  TUTTI_NONE,
  TUTTI_BOOL,
  TUTTI_I2,
  TUTTI_U2,
  TUTTI_I4,
  TUTTI_U4,
  TUTTI_I8,
  TUTTI_U8,
  TUTTI_I16,
  TUTTI_U16,
  TUTTI_I32,
  TUTTI_U32,
  TUTTI_I64,
  TUTTI_U64,
  TUTTI_F4E2M1,
  TUTTI_F8E4M3FN,
  TUTTI_F8E4M3FNUZ,
  TUTTI_F8E5M2,
  TUTTI_F8E5M2FNUZ,
  TUTTI_F8E8M0,
  TUTTI_F16,
  TUTTI_BF16,
  TUTTI_F32,
  TUTTI_F64,
  TUTTI_STRING,
  TUTTI_COMPLEX64,
  TUTTI_COMPLEX128
} tutti_dtype_t;

/** Why a call failed; owned by the caller, written only on failure. The message names the thing, what was expected and
 * what was given. Passing NULL where one is taken is allowed. */
typedef struct tutti_error {
  tutti_status_t status;
  char message[1020];
} tutti_error_t;

/** One dimension of a port. */
typedef struct tutti_dim {
  const char *symbol; /**< "" when fixed, else the dimension's name or an expression in names such as "2*batch+1" or
                           "ceil(batch/2)", which may be cut short: it is for people; "members" of the member axis,
                           whose length is that of the active set */
  int64_t lo, hi;     /**< inclusive; equal when fixed */
} tutti_dim_t;

/** An input or an output. Tensors are dense and row-major. An output with several heads is several ports. */
typedef struct tutti_port {
  const char *name;
  const char *head; /**< "" for an input; "members", "mean", "quantile:0.25" ... for an output */
  tutti_dtype_t dtype;
  int32_t rank;
  const tutti_dim_t *dims; /**< rank of them */
  bool per_member;         /**< dims[0] is the member axis: as long as the active set, in its order */
} tutti_port_t;

/** A dimension that a call decides: its value lies in [lo, hi]. One that tells programs apart is fixed in each: lo ==
 * hi. */
typedef struct tutti_dimension {
  const char *name;
  int64_t lo, hi;
} tutti_dimension_t;

/** One way to run the artifact: an entry, compiled for targets and for one binding of its dimensions. */
typedef struct tutti_program {
  const char *entry;
  const char *precision; /**< as tutti-compile --precision names it: "f32", "bf16" ... */
  uint32_t num_targets;
  const char *const *targets; /**< "cpu"; or "cuda", then the architectures: "sm_80" ... */
  uint32_t num_dimensions;    /**< without the length of the active set */
  const tutti_dimension_t *dimensions;
  uint32_t num_inputs;
  const tutti_port_t *inputs;
  uint32_t num_outputs;
  const tutti_port_t *outputs;
  uint64_t arena_bytes;  /**< intermediate values of a session, at the largest sizes */
  uint64_t state_bytes;  /**< what a session keeps from call to call */
  uint32_t launches;     /**< kernel launches of a call; where members run in pieces (tutti-compile --memory-limit), of
                              one whose active set is a single piece: a longer set has more pieces, and more launches */
  tutti_device_t device; /**< TUTTI_DEVICE_CPU or TUTTI_DEVICE_CUDA: what it was compiled for */
} tutti_program_t;

/** One model of the ensemble. */
typedef struct tutti_member {
  const char *name;
  uint32_t group;     /**< members of one structure are a group: 0, but of unequal members */
  const char *source; /**< name of the model file */
  uint64_t digest;    /**< XXH64 of what it was compiled from: the model file; with files of weights or bound inputs, of
                         all their digests together */
} tutti_member_t;

/** A weight that kept its identity, under the initializer's name of member 0, or of the first member of its structure.
 * Where members of unequal structure have weights of one name and different dims, each of these is one. */
typedef struct tutti_weight {
  const char *name;
  tutti_dtype_t dtype;
  int32_t rank;
  const int64_t *dims; /**< as in the model file */
  uint64_t bytes;      /**< of one copy, without padding */
  int32_t group;       /**< the members that have it; -1: all */
  bool shared;         /**< one copy for all members */
  bool swappable;      /**< tutti_artifact_swap_weights takes it */
} tutti_weight_t;

/** What an artifact says about itself. */
typedef struct tutti_info {
  uint32_t format;      /**< version of the file format */
  const char *compiler; /**< name and version of the compiler that made it */
  const char *share;    /**< "content" or "none", as it was compiled */
  uint32_t num_members;
  const tutti_member_t *members;
  uint32_t num_programs;
  const tutti_program_t *programs;
  uint32_t num_weights;
  const tutti_weight_t *weights;
  uint64_t file_bytes;
  const void *metadata; /**< the FlatBuffer, checked; its schema is artifact.fbs */
  size_t metadata_bytes;
} tutti_info_t;

/** A tensor in the caller's memory. What is left out of an initializer is 0: host memory. */
typedef struct tutti_tensor {
  const char *name;
  tutti_dtype_t dtype;
  int32_t rank;
  const int64_t *dims;    /**< rank of them; may be NULL when rank is 0 */
  const int64_t *strides; /**< bytes from one index to the next, rank of them; NULL = dense and row-major */
  void *data; /**< aligned to its element, but a weight, which is copied; inputs and weights are only read */
  tutti_memory_t memory;
} tutti_tensor_t;

typedef struct tutti_artifact tutti_artifact_t;
typedef struct tutti_session tutti_session_t;
struct DLManagedTensor; /* of dlpack.h */

/** The runtime's version, as major * 10000 + minor * 100 + patch. */
TUTTI_API uint32_t tutti_version(void);
/** The file format that this runtime reads. */
TUTTI_API uint32_t tutti_format_version(void);
/** "ok", "shape mismatch" ...; static. */
TUTTI_API const char *tutti_status_name(tutti_status_t status);
/** "cpu", "cuda" or "emulated"; "default" for TUTTI_DEVICE_DEFAULT; static. */
TUTTI_API const char *tutti_device_name(tutti_device_t device);
/** "float32", "int64" ... as NumPy spells them; static. */
TUTTI_API const char *tutti_dtype_name(tutti_dtype_t dtype);
/** Bits of one element; 0 for TUTTI_NONE and TUTTI_STRING. */
TUTTI_API uint32_t tutti_dtype_bits(tutti_dtype_t dtype);

/* Artifacts */

/** Opens the file at `path` and checks it: bounds, the digests of header, metadata and code, and every index, offset
 * and size in the metadata. The file is mapped, never copied; replace it by rename, do not write into it while it is
 * open. On success *artifact is a new handle, to be closed; on failure NULL. Errors: TUTTI_NOT_FOUND,
 * TUTTI_INVALID_ARGUMENT (no regular file, none that may be read; memory that is misaligned), TUTTI_TRUNCATED,
 * TUTTI_DIGEST_MISMATCH, TUTTI_MALFORMED, TUTTI_NEWER_FORMAT, TUTTI_UNSUPPORTED, TUTTI_IO_ERROR, TUTTI_OUT_OF_MEMORY.
 */
TUTTI_API tutti_status_t tutti_artifact_open(const char *path, tutti_artifact_t **artifact, tutti_error_t *error);

/** As tutti_artifact_open, for a file that is already in memory. `data` is used in place: it must be aligned to 64
 * bytes and stay valid and unchanged until the artifact and all its sessions are gone. Only the code is copied. */
TUTTI_API tutti_status_t tutti_artifact_open_memory(const void *data, size_t bytes, tutti_artifact_t **artifact,
                                                    tutti_error_t *error);

/** Gives the handle back. Sessions keep what they need; the file stays mapped until the last one is gone. NULL is
 * allowed. It waits for no other call: none on this handle may be under way, and none may follow. */
TUTTI_API void tutti_artifact_close(tutti_artifact_t *artifact);

/** What the artifact holds; NULL for NULL. */
TUTTI_API const tutti_info_t *tutti_artifact_info(const tutti_artifact_t *artifact);

/** Reads all weights and compares their digests, at the speed of reading them. Errors:
 * TUTTI_DIGEST_MISMATCH, naming the segment. Weights that were swapped in are not looked at. */
TUTTI_API tutti_status_t tutti_artifact_verify_weights(const tutti_artifact_t *artifact, tutti_error_t *error);

/** Replaces weights of one member, for all sessions. Each tensor has the name, dtype and dims of a swappable weight
 * that the member has (see tutti_info_t::weights), and lies as that weight in the file of member 0, or of the first
 * member of its structure, also where the member's own file had it transposed; strides are free. All are replaced
 * together: a call of tutti_session_run that is under way sees the old weights, a later one the new, none a mixture.
 * The data is copied. On failure nothing has changed. Errors: TUTTI_NOT_FOUND (member or weight), TUTTI_SHARED_WEIGHT
 * (compile with --share=none), TUTTI_SHAPE_MISMATCH, TUTTI_DTYPE_MISMATCH, TUTTI_INVALID_ARGUMENT (a weight given
 * twice, or not in the host's memory), TUTTI_UNSUPPORTED (a weight that went into values computed when compiling, or
 * strides of elements below a byte), TUTTI_OUT_OF_MEMORY, TUTTI_FORKED (another thread was at it when this process was
 * forked), and where sessions run on CUDA devices TUTTI_DRIVER_ERROR and TUTTI_DEVICE_LOST. In a child of fork() it is
 * the child's own sessions that see the new weights. */
TUTTI_API tutti_status_t tutti_artifact_swap_weights(tutti_artifact_t *artifact, uint32_t member,
                                                     const tutti_tensor_t *weights, size_t count, tutti_error_t *error);

/* Sessions */

/** Start with TUTTI_SESSION_OPTIONS_INIT and change what is needed. */
typedef struct tutti_session_options {
  size_t struct_size;  /**< sizeof(tutti_session_options_t) of the caller */
  uint32_t threads;    /**< that a run uses, the caller among them: 1, which starts none, to 1024; 0: one for each CPU
                            that this process may use, by its affinity and the quota of its cgroup */
  uint32_t program;    /**< index into tutti_info_t::programs */
  bool verify_weights; /**< as tutti_artifact_verify_weights, once, before the session is made */
  /** Code for CPUs, and with it the device: "x86-64-v3", "x86-64-v4" or "x86-64-v4+avx512vnni", of which the first two
   * are also "cpu-v3" and "cpu-avx512"; "cpu": the best of them for this CPU, as NULL is where the device is a CPU. */
  const char *target;
  tutti_device_t device;
  /** Which CUDA device, as the driver counts them; that of `context` or `stream`, if given. None of the three says
   * anything to a session on a CPU. */
  uint32_t ordinal;
  void *context; /**< a CUcontext to work in, which outlives the session and the artifact; NULL: the stream's, or the
                      device's primary context */
  /** A CUstream to work on, which outlives the session; NULL, which is also how PyTorch names its default stream: one
   * of the session's own, which waits for no other. Then what writes an input in device memory, and what reads an
   * output that the run will write, has to have ended before the run is started. The default stream of a context has a
   * handle as well: CU_STREAM_LEGACY, (void *)1. CU_STREAM_PER_THREAD, which is another one in each thread, is refused.
   * While the stream is captured into a graph no session is made on it, and a run fails: TUTTI_UNSUPPORTED. */
  void *stream;
} tutti_session_options_t;
#define TUTTI_SESSION_OPTIONS_INIT                                                                                     \
  {sizeof(tutti_session_options_t), 1, 0, false, NULL, TUTTI_DEVICE_DEFAULT, 0, NULL, NULL}

/** Chooses where to run: sets options->program to the first program of its entry, from that index on, which
 * options->device can run (of those that differ in their architectures alone, the one whose code fits the device best),
 * and options->device to that device. TUTTI_DEVICE_DEFAULT stands for the first of CUDA, CPU that the artifact has code
 * for and this machine can run, or for the CPU where there is a target; the emulated device is never chosen. Errors:
 * TUTTI_NO_DEVICE, TUTTI_DRIVER_TOO_OLD, TUTTI_DRIVER_ERROR and TUTTI_FORKED, with the reason; TUTTI_NOT_FOUND (the
 * index of a program), TUTTI_INVALID_ARGUMENT; options are then unchanged. */
TUTTI_API tutti_status_t tutti_artifact_choose_device(tutti_artifact_t *artifact, tutti_session_options_t *options,
                                                      tutti_error_t *error);

/** As tutti_artifact_choose_device, of the programs that take these inputs: of a tensor only the name, rank and dims
 * are read. An artifact has a program for each size that it was compiled for (tutti-compile --dim h=12,9), with the
 * same inputs and outputs but for their dims. What does not decide between programs, a name or rank that none has or
 * dims of an artifact whose programs all have the same, is left to tutti_session_bind_input. Error:
 * TUTTI_SHAPE_MISMATCH, which lists the sizes that there are programs for. */
TUTTI_API tutti_status_t tutti_artifact_choose_program(tutti_artifact_t *artifact, const tutti_tensor_t *inputs,
                                                       size_t count, tutti_session_options_t *options,
                                                       tutti_error_t *error);

/** Makes a session with all the memory that its runs need, for the largest sizes. All members are active. `options` may
 * be NULL: then it is program 0 on its device, whatever else there is; tutti_artifact_choose_device prefers a GPU. On a
 * CUDA device the first session of an artifact copies the weights there, and all its sessions share them;
 * what context a thread has is as it was after every call. On success *session is a new handle, to be destroyed; on
 * failure NULL. Errors: TUTTI_INVALID_ARGUMENT, TUTTI_NOT_FOUND, TUTTI_NO_DEVICE, TUTTI_DRIVER_TOO_OLD,
 * TUTTI_DRIVER_ERROR, TUTTI_DEVICE_LOST, TUTTI_FORKED, TUTTI_UNSUPPORTED, TUTTI_MALFORMED (code that a driver refuses),
 * TUTTI_OUT_OF_MEMORY (of a CUDA device: says what would fit), TUTTI_DIGEST_MISMATCH. */
TUTTI_API tutti_status_t tutti_session_create(tutti_artifact_t *artifact, const tutti_session_options_t *options,
                                              tutti_session_t **session, tutti_error_t *error);

/** Waits for runs that tutti_session_run_async has started, ends the session's threads and frees its memory. NULL is
 * allowed; so is a child of fork(). It waits for no other call: none on this handle may be under way, and none may
 * follow, but those of the deleters that it calls itself. */
TUTTI_API void tutti_session_destroy(tutti_session_t *session);

/** What a session runs on. */
typedef struct tutti_device_info {
  const char *name; /**< "x86-64-v4", the level of the code that runs; "NVIDIA H200 (sm_90)" */
  tutti_device_t device;
  uint32_t ordinal;        /**< of a CUDA device */
  double flops_per_second; /**< float32, two for a multiply-add, at its highest clock; 0 when not known, as on CPUs */
  double bytes_per_second; /**< of its memory, likewise */
} tutti_device_info_t;
/** NULL for NULL. */
TUTTI_API const tutti_device_info_t *tutti_session_device(const tutti_session_t *session);

/** The message of the session's last failed call, "" if there was none; valid until its next call. */
TUTTI_API const char *tutti_session_message(const tutti_session_t *session);

/** Chooses the members that a run computes, and their order along member axes. Errors: TUTTI_INVALID_ARGUMENT for an
 * empty list, an index out of range or one given twice; the old set then stays. The set that is active already costs no
 * more than a comparison. Inputs and outputs with a member axis that are bound stay so with the dims that they were
 * bound with: where the new set has another length, bind them anew, or the next run is TUTTI_SHAPE_MISMATCH. */
TUTTI_API tutti_status_t tutti_session_set_active(tutti_session_t *session, const uint32_t *members, size_t count);

/** Sets a dimension by name. Needed only for one that no input has: the others follow from the inputs bound, and a
 * value set here must agree with them. 0 takes the setting back. Errors: TUTTI_NOT_FOUND, TUTTI_INVALID_ARGUMENT. */
TUTTI_API tutti_status_t tutti_session_set_dimension(tutti_session_t *session, const char *name, int64_t value);

/** Binds an input to the caller's memory; strides, when given, have to be the dense ones. tensor->data is read by every
 * run until another is bound. A per-member input has the member axis first. A session on a CUDA device takes memory of
 * that device as it is, and copies what lies in host memory (straight from there, if the driver has pinned it). When
 * the data has to be there, `stream` of tutti_session_options_t says. data == NULL and the dtype TUTTI_NONE let the
 * input go: until another is bound, runs are TUTTI_NOT_BOUND. Errors: TUTTI_NOT_FOUND, TUTTI_DTYPE_MISMATCH,
 * TUTTI_SHAPE_MISMATCH (rank, fixed dims, strides; dims that depend on others are checked when they are used),
 * TUTTI_INVALID_ARGUMENT (a rank or a dim that no tensor has, dims that are NULL, memory of another device or kind, or
 * misaligned), TUTTI_UNSUPPORTED (strides of elements below a byte), TUTTI_DRIVER_ERROR (asking the driver about the
 * memory, or waiting for a run under way). */
TUTTI_API tutti_status_t tutti_session_bind_input(tutti_session_t *session, const tutti_tensor_t *tensor);

/** Binds an output to the caller's memory, which a run writes: the next run is TUTTI_INVALID_ARGUMENT if an input or
 * another output has some of it. `head` may be NULL when the output has one head; here and below an empty one is NULL.
 * data == NULL gives the output back to the session, in memory of the kind tensor->memory. Errors: as
 * tutti_session_bind_input. */
TUTTI_API tutti_status_t tutti_session_bind_output(tutti_session_t *session, const char *head,
                                                   const tutti_tensor_t *tensor);

/** The same with a DLPack tensor (the unversioned DLManagedTensor) in memory of the host (pinned, too) or of a CUDA
 * device; TUTTI_UNSUPPORTED for any other device. DLPack knows nothing of streams: what the tensor's library still has
 * to write is to be waited for (torch.cuda.synchronize, or its stream given to the session). On success the session has
 * taken it over: it calls the tensor's deleter when something else is bound there, or when the session is destroyed, on
 * the thread that does so, where calls on the session answer TUTTI_BUSY meanwhile. On failure it stays the caller's. */
TUTTI_API tutti_status_t tutti_session_bind_input_dlpack(tutti_session_t *session, const char *name,
                                                         struct DLManagedTensor *tensor);
TUTTI_API tutti_status_t tutti_session_bind_output_dlpack(tutti_session_t *session, const char *name, const char *head,
                                                          struct DLManagedTensor *tensor);

/** Describes an output under the current dimensions and active set: *tensor gets name, dtype, rank, dims, data and
 * memory; strides are NULL, as it is dense. The data is the bound memory, or the session's own, which the next run
 * overwrites. May be called before a run, to learn the dims; what the data is then is not defined. Pointers in *tensor
 * are valid until the next call that changes the session. Errors: TUTTI_INVALID_ARGUMENT (no place for the tensor, or
 * several heads and none named), TUTTI_NOT_FOUND, and those of tutti_session_run for dimensions. */
TUTTI_API tutti_status_t tutti_session_get_output(tutti_session_t *session, const char *name, const char *head,
                                                  tutti_tensor_t *tensor);

/** Describes an input likewise, so that its caller learns what to bind: a dimension that no bound input has may be set
 * first, and a per-member input has the active set's length. The data is the bound memory, NULL while nothing is bound.
 * Errors: TUTTI_INVALID_ARGUMENT, TUTTI_NOT_FOUND, and those of tutti_session_run for dimensions. */
TUTTI_API tutti_status_t tutti_session_get_input(tutti_session_t *session, const char *name, tutti_tensor_t *tensor);

/** Computes all outputs from the inputs bound. Allocates nothing and takes no lock. The same inputs give the same bits,
 * for any number of threads. The floating-point mode of the calling thread does not matter and is left as it was.
 * Errors: TUTTI_NOT_BOUND, TUTTI_SHAPE_MISMATCH, TUTTI_INVALID_ARGUMENT (an output in the memory of an input or of
 * another output), TUTTI_BUSY, TUTTI_FORKED, and from a CUDA device TUTTI_UNSUPPORTED
 * (the stream is being captured), TUTTI_OUT_OF_MEMORY (the driver's own), TUTTI_DRIVER_ERROR and TUTTI_DEVICE_LOST:
 * after the last, every call on the session returns it. */
TUTTI_API tutti_status_t tutti_session_run(tutti_session_t *session);

/** Starts a run and returns. On a CUDA device its work is on the session's stream, in the order of the calls: inputs
 * and outputs in device memory may be used there by whatever comes later on the stream. Inputs in host memory have been
 * read when this returns, unless they are pinned; outputs in host memory are there after tutti_session_wait. A run with
 * memory of the host waits for the one before it. On a CPU this is tutti_session_run. Errors: as tutti_session_run. */
TUTTI_API tutti_status_t tutti_session_run_async(tutti_session_t *session);

/** Returns when all runs of the session have ended and their outputs are there. Errors of those runs are reported here,
 * or by the next call that notices. */
TUTTI_API tutti_status_t tutti_session_wait(tutti_session_t *session);

#ifdef __cplusplus
}
#endif
#endif
