"""acl.media"""

# Written by make_stubs.py from the docstrings of the module; do not edit.

from typing import Any, Dict, Tuple

def dvpp_clear_hist(hist: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_batch_pic_desc(batch_size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_border_config() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_channel(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_channel_desc() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_hist() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_jpege_config() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_lut_map() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_pic_desc() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_resize_config() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_roi_config(left: object, right: object, top: object, bottom: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_create_stream_desc() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_batch_pic_desc(batch_pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_border_config(border_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_channel(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_channel_desc(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_hist(hist: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_jpege_config(jpege_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_lut_map(lut_map: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_pic_desc(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_resize_config(resize_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_roi_config(roi_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_destroy_stream_desc(stream_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_free(ptr: int, /) -> int:
    """Frees a block of dvpp_malloc(). [Y-169]"""

def dvpp_get_border_config_border_type(border_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_border_config_bottom(border_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_border_config_left(border_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_border_config_right(border_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_border_config_top(border_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_border_config_value(border_config: object, index: object, /) -> float:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_channel_desc_channel_id(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_channel_desc_param(channel_desc: object, param_type: object, /) -> Tuple[int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_hist_data(hist: object, dim: object, /) -> Tuple[int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_hist_dims(hist: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_hist_ret_code(hist: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_jpege_config_level(jpege_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_lut_map_data(lut_map: object, dim: object, /) -> Tuple[int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_lut_map_dims(lut_map: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc(batch_pic_desc: object, index: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc_data(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc_format(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc_height(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc_height_stride(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc_ret_code(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc_size(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc_width(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_pic_desc_width_stride(pic_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_resize_config_interpolation(resize_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_stream_desc_data(stream_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_stream_desc_eos(stream_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_stream_desc_format(stream_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_stream_desc_ret_code(stream_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_stream_desc_size(stream_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_get_stream_desc_timestamp(stream_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_jpeg_decode_async(channel_desc: object, data: object, size: object, output_desc: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_jpeg_encode_async(channel_desc: object, input_desc: object, data: object, size: object, config: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_jpeg_get_image_info(data: object, size: object, /) -> Tuple[int, int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_jpeg_get_image_info_v2(data: object, size: object, /) -> Tuple[int, int, int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_jpeg_predict_dec_size(data: object, data_size: object, output_pixel_format: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_jpeg_predict_enc_size(input_desc: object, config: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_malloc(size: int, /) -> Tuple[int, int]:
    """Device memory for media functions of version 1: its start a multiple of 128, `size` rounded up to 32 plus 32.
    [Y-169, Y-220]"""

def dvpp_malloc_with_cfg(size: int, policy: int, cfg: Dict[str, Any], /) -> Tuple[int, int]:
    """Like dvpp_malloc(); policy and attributes have no effect. [Y-170]"""

def dvpp_png_decode_async(channel_desc: object, data: object, size: object, output_desc: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_png_get_image_info(data: object, size: object, /) -> Tuple[int, int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_png_predict_dec_size(data: object, data_size: object, output_pixel_format: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_border_config_border_type(border_config: object, border_type: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_border_config_bottom(border_config: object, bottom: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_border_config_left(border_config: object, left: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_border_config_right(border_config: object, right: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_border_config_top(border_config: object, top: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_border_config_value(border_config: object, index: object, value: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_channel_desc_mode(channel_desc: object, mode: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_channel_desc_param(channel_desc: object, param_type: object, param: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_jpege_config_level(jpege_config: object, level: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_pic_desc_data(pic_desc: object, data_dev: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_pic_desc_format(pic_desc: object, format: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_pic_desc_height(pic_desc: object, height: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_pic_desc_height_stride(pic_desc: object, height_stride: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_pic_desc_ret_code(pic_desc: object, ret_code: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_pic_desc_size(pic_desc: object, size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_pic_desc_width(pic_desc: object, width: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_pic_desc_width_stride(pic_desc: object, width_stride: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_resize_config_interpolation(resize_config: object, interpolation: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_roi_config(config: object, left: object, right: object, top: object, bottom: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_roi_config_bottom(config: object, bottom: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_roi_config_left(config: object, left: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_roi_config_right(config: object, right: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_roi_config_top(config: object, top: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_stream_desc_data(stream_desc: object, data_dev: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_stream_desc_eos(stream_desc: object, eos: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_stream_desc_format(stream_desc: object, format: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_stream_desc_ret_code(stream_desc: object, ret_code: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_stream_desc_size(stream_desc: object, size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_set_stream_desc_timestamp(stream_desc: object, timestamp: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_batch_crop_and_paste_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, paste_areas: object, stream: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_batch_crop_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, stream: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_batch_crop_resize_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, resize_config: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_batch_crop_resize_make_border_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, border_cfgs: object, resize_config: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_batch_crop_resize_paste_async(channel_desc: object, src_batch_pic_desc: object, roi_nums: object, dst_batch_pic_desc: object, crop_areas: object, paste_areas: object, resize_config: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_calc_hist_async(channel_desc: object, src_pic_desc: object, hist: object, reserve: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_convert_color_async(channel_desc: object, input_desc: object, output_desc: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_crop_and_paste_async(channel_desc: object, input_desc: object, output_desc: object, crop_area: object, paste_area: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_crop_async(channel_desc: object, input_desc: object, output_desc: object, crop_area: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_crop_resize_async(channel_desc: object, input_desc: object, output_desc: object, crop_area: object, resize_config: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_crop_resize_paste_async(channel_desc: object, input_desc: object, output_desc: object, crop_area: object, paste_area: object, resize_config: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_equalize_hist_async(channel_desc: object, input_desc: object, output_desc: object, lut_map: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_make_border_async(channel_desc: object, input_desc: object, output_desc: object, border_config: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_pyr_down_async(channel_desc: object, input_desc: object, output_desc: object, reserve: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def dvpp_vpc_resize_async(channel_desc: object, input_desc: object, output_desc: object, resize_config: object, stream: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_create_channel(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_create_channel_desc() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_create_frame_config() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_destroy_channel(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_destroy_channel_desc(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_destroy_frame_config(frame_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_bit_depth(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_callback(channel_desc: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_channel_id(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_entype(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_out_mode(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_out_pic_format(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_out_pic_height(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_out_pic_width(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_param(channel_desc: object, param_type: object, /) -> Tuple[int, int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_ref_frame_num(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_get_channel_desc_thread_id(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_send_frame(channel_desc: object, input: object, output: object, config: object, user_data: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_send_skipped_frame(channel_desc: object, input: object, config: object, user_data: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_bit_depth(channel_desc: object, bit_depth: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_callback(channel_desc: object, callback: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_channel_id(channel_desc: object, channel_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_entype(channel_desc: object, en_type: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_out_mode(channel_desc: object, out_mode: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_out_pic_format(channel_desc: object, out_pic_format: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_out_pic_height(channel_desc: object, out_pic_height: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_out_pic_width(channel_desc: object, out_pic_width: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_param(channel_desc: object, param_type: object, param: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_ref_frame_num(channel_desc: object, ref_frame_num: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def vdec_set_channel_desc_thread_id(channel_desc: object, thread_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_create_channel(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_create_channel_desc() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_create_frame_config() -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_destroy_channel(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_destroy_channel_desc(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_destroy_frame_config(frame_config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_buf_addr(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_buf_size(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_callback(channel_desc: object, /) -> object:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_channel_id(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_entype(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_key_frame_interval(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_max_bit_rate(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_param(channel_desc: object, param_type: object, /) -> Tuple[int, int]:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_pic_format(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_pic_height(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_pic_width(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_rc_mode(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_src_rate(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_channel_desc_thread_id(channel_desc: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_frame_config_eos(config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_get_frame_config_force_i_frame(config: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_send_frame(channel_desc: object, input: object, reserve: object, config: object, user_data: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_buf_addr(channel_desc: object, buf_addr: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_buf_size(channel_desc: object, buf_size: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_callback(channel_desc: object, callback: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_entype(channel_desc: object, en_type: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_key_frame_interval(channel_desc: object, key_frame_interval: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_max_bit_rate(channel_desc: object, max_bit_rate: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_param(channel_desc: object, param_type: object, param: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_pic_format(channel_desc: object, pic_format: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_pic_height(channel_desc: object, pic_height: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_pic_width(channel_desc: object, pic_width: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_rc_mode(channel_desc: object, rc_mode: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_src_rate(channel_desc: object, src_rate: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_channel_desc_thread_id(channel_desc: object, thread_id: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_frame_config_eos(config: object, eos: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""

def venc_set_frame_config_force_i_frame(config: object, force_i_frame: object, /) -> int:
    """Not implemented: belay runs no models, operators or media processing. Returns 207000; the first call prints a note. [C-22]"""
